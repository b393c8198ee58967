// The child loads and runs; the parent waits, and reads the shared progress when the child is gone.
// Licence: BSD-3-Clause.
#include "staged_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>

#include "executorch_runtime.hpp"
#include "program_outline.hpp"

namespace etbk::runner {
namespace {

constexpr size_t kLogBytes = 4096;

Progress* shared_progress() {
  void* const memory =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) Progress;
}

struct Child {
  pid_t process = -1;
  int replies = -1;
  int log = -1;
};

[[noreturn]] void be_the_child(const RunRequest& request, const Json& job, Progress* progress,
                               int replies, int log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(log, 1);
  dup2(log, 2);
  progress->enter(Stage::kRuntime);
  RuntimeEntry entry = nullptr;
  if (const auto finding = load_executorch(request.executorch, &entry)) {
    const std::string line = dump({{"finding", finding->to_json()}, {"error", nullptr}}) + "\n";
    _exit(write(replies, line.data(), line.size()) < 0 ? 3 : 1);
  }
  const std::string text = dump(job);
  const RuntimeCall call = {"run", text.c_str(), progress, replies, &set_backend_hook};
  _exit(entry(&call));
}

bool start(const RunRequest& request, const Json& job, Progress* progress, Child* child) {
  int replies[2];
  int log[2];
  if (pipe2(replies, O_CLOEXEC) != 0 || pipe2(log, O_CLOEXEC) != 0) {
    return false;
  }
  child->process = fork();
  if (child->process == 0) {
    be_the_child(request, job, progress, replies[1], log[1]);
  }
  close(replies[1]);
  close(log[1]);
  child->replies = replies[0];
  child->log = log[0];
  return child->process > 0;
}

struct Ending {
  bool hung = false;
  int status = 0;
  double peak_mib = 0;
  std::string reply;
  std::string log;  // its end
};

void take(int descriptor, std::string* text, size_t most, bool* open) {
  char block[4096];
  const ssize_t count = read(descriptor, block, sizeof block);
  if (count <= 0) {
    *open = count < 0 && errno == EINTR;
    return;
  }
  text->append(block, static_cast<size_t>(count));
  if (text->size() > 2 * most) {
    text->erase(0, text->size() - most);
  }
}

Ending wait_for(const Child& child, double limit) {
  Ending ending;
  const int64_t deadline = now_ns() + static_cast<int64_t>(std::min(limit, 1e8) * 1e9);
  bool replies_open = true;
  bool log_open = true;
  while (replies_open || log_open) {
    const int64_t left = (deadline - now_ns()) / 1000000;
    if (left <= 0) {
      ending.hung = true;
      kill(child.process, SIGKILL);
      break;
    }
    pollfd files[] = {{replies_open ? child.replies : -1, POLLIN, 0},
                      {log_open ? child.log : -1, POLLIN, 0}};
    if (poll(files, 2, static_cast<int>(std::min<int64_t>(left, 1000))) < 0 && errno != EINTR) {
      break;
    }
    if (files[0].revents != 0) {
      take(child.replies, &ending.reply, size_t{64} << 20, &replies_open);
    }
    if (files[1].revents != 0) {
      take(child.log, &ending.log, kLogBytes, &log_open);
    }
  }
  rusage used{};
  while (wait4(child.process, &ending.status, 0, &used) < 0 && errno == EINTR) {
  }
  ending.peak_mib = static_cast<double>(used.ru_maxrss) / 1024;
  close(child.replies);
  close(child.log);
  return ending;
}

std::string last_lines(const std::string& log, size_t lines) {
  std::vector<std::string> kept;
  std::string line;
  for (const char c : log + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    const bool chatter = line.rfind("I 0", 0) == 0 || line.rfind("D 0", 0) == 0;
    if (!line.empty() && !chatter) {  // ExecuTorch's lines begin with their level
      kept.push_back(line.substr(0, 300));
    }
    line.clear();
  }
  std::string text;
  for (size_t i = kept.size() - std::min(kept.size(), lines); i < kept.size(); ++i) {
    text += (text.empty() ? "" : " | ") + kept[i];
  }
  return text;
}

const char* signal_name(int number) {
  switch (number) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGKILL:
      return "SIGKILL";
    case SIGTERM:
      return "SIGTERM";
    case SIGTRAP:
      return "SIGTRAP";
    default:
      return "a signal";
  }
}

Json stages(const Progress& progress, bool ended_well) {
  const Stage last = progress.stage.load();
  std::vector<std::pair<int64_t, Stage>> order;
  for (int i = 0; i < kStages; ++i) {
    if (const int64_t entered = progress.entered_ns[i].load(); entered != 0) {
      order.emplace_back(entered, static_cast<Stage>(i));
    }
  }
  std::sort(order.begin(), order.end());
  Json rows = Json::array();
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i].second == Stage::kDone) {
      continue;
    }
    const bool is_last = order[i].second == last;
    Json row = {{"stage", stage_name(order[i].second)},
                {"status", is_last && !ended_well ? "failed" : "ok"},
                {"ms", nullptr}};
    if (i + 1 < order.size()) {
      row["ms"] = static_cast<double>(order[i + 1].first - order[i].first) / 1e6;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// "in init of delegate 2 (XnnpackBackend)", "at instruction 3 of chain 0 (aten::add.out)"
std::string place_text(const Json& reached) {
  std::string text = "in stage '" + reached["stage"].get<std::string>() + "'";
  const Json& delegate = reached["delegate"];
  const Json& instruction = reached["instruction"];
  if (instruction.is_object()) {
    text += " at instruction " + std::to_string(instruction["index"].get<int64_t>()) +
            " of chain " + std::to_string(instruction["chain"].get<int64_t>());
  }
  if (delegate.is_object()) {
    text += reached["stage"] == "delegate" ? ", in init of delegate " : ", in delegate ";
    text += std::to_string(delegate["index"].get<int64_t>());
    if (delegate["id"].is_string()) {
      text += " (" + delegate["id"].get<std::string>() + ")";
    }
  } else if (reached["operator"].is_string()) {
    text += ", operator " + reached["operator"].get<std::string>();
  }
  return text;
}

Json reached(const Progress& progress, const ProgramOutline& outline, const std::string& method) {
  const Stage stage = progress.stage.load();
  Json place = {{"stage", stage_name(stage)},
                {"delegate", nullptr},
                {"instruction", nullptr},
                {"operator", nullptr},
                {"instructions_done", progress.instructions_done.load()}};
  int64_t delegate = progress.delegate.load();
  if (stage == Stage::kExecute && progress.instruction.load() >= 0) {
    const Json what =
        outline.instruction(method, progress.chain.load(), progress.instruction.load());
    place["instruction"] = {{"chain", progress.chain.load()},
                            {"index", progress.instruction.load()}};
    if (what.is_object()) {
      place["operator"] = what["operator"];
      delegate = what["delegate"].is_number() ? what["delegate"].get<int64_t>() : -1;
    }
  }
  if (delegate >= 0 && (stage == Stage::kDelegate || stage == Stage::kExecute)) {
    const std::string id = outline.delegate_id(method, delegate);
    place["delegate"] = {{"index", delegate}, {"id", id.empty() ? Json(nullptr) : Json(id)}};
  }
  return place;
}

void add(Json* findings, const Finding& finding) { findings->push_back(finding.to_json()); }

}  // namespace

RunReport run_in_stages(const RunRequest& request) {
  const ProgramOutline outline(request.program);
  RunReport report;
  const auto methods = outline.methods();
  std::string method = request.method;
  if (method.empty()) {
    const bool has_forward = std::find(methods.begin(), methods.end(), "forward") != methods.end();
    method = methods.size() == 1 && !has_forward ? methods.front() : "forward";
  }
  Json findings = Json::array();
  report.document = {{"schema", "etbk.run/1"}, {"file", request.program}, {"method", method},
                     {"outcome", "not run"},   {"stages", Json::array()}, {"reached", nullptr},
                     {"error", nullptr},       {"signal", nullptr},       {"memory", nullptr},
                     {"result", nullptr}};
  if (access(request.program.c_str(), R_OK) != 0) {
    add(&findings, {"RUN-FILE-UNREADABLE", "The program file cannot be read.",
                    request.program + ": " + std::strerror(errno), "Correct the path."});
    report.document["findings"] = findings;
    report.exit_code = 2;
    return report;
  }
  const Json job = {{"program", request.program},
                    {"method", method},
                    {"data", request.data},
                    {"inputs", request.inputs.empty() ? Json::array() : Json{request.inputs}},
                    {"outputs", request.outputs},
                    {"etdump", request.etdump},
                    {"load_mode", request.load_mode},
                    {"threads", request.threads},
                    {"plugins", request.plugins},
                    {"discover", true},
                    {"backends", outline.backends(method)},
                    {"operators", outline.operators(method)}};
  Progress* const progress = shared_progress();
  Child child;
  if (progress == nullptr || !start(request, job, progress, &child)) {
    add(&findings,
        {"OUT-OF-MEMORY", "No process could be started.", std::strerror(errno), "Free memory."});
    report.document["findings"] = findings;
    report.exit_code = 3;
    return report;
  }
  const Ending ending = wait_for(child, request.time_limit);
  Json reply = Json::parse(ending.reply, nullptr, false);
  const bool killed = WIFSIGNALED(ending.status);
  const bool good = reply.is_object() && !reply.contains("finding") && !killed && !ending.hung;
  const Json place = reached(*progress, outline, method);
  const std::string log = last_lines(ending.log, 4);

  report.document["stages"] = stages(*progress, good);
  report.document["reached"] = place;
  report.document["memory"] = {{"planned_bytes", nullptr}, {"peak_mib", ending.peak_mib}};
  if (good) {
    report.document["outcome"] = "ran";
    report.document["memory"] = {{"planned_bytes", reply["planned_bytes"]},
                                 {"rss_mib", reply["rss_mib"]},
                                 {"anon_rss_mib", reply["anon_rss_mib"]},
                                 {"file_rss_mib", reply["file_rss_mib"]},
                                 {"peak_mib", reply["peak_mib"]}};
    for (const Json& finding : reply["findings"]) {
      findings.push_back(finding);
    }
    for (const char* const key : {"planned_bytes", "rss_mib", "anon_rss_mib", "file_rss_mib",
                                  "peak_mib", "findings", "delegate_init"}) {
      reply.erase(key);
    }
    report.document["result"] = reply;
  } else {
    report.exit_code = 1;
    if (ending.hung) {
      report.document["outcome"] = "hung";
      add(&findings,
          {"RUN-HUNG",
           "The program did not come to its end " + place_text(place) + "; the process was ended.",
           log, "Raise --time-limit if it really needs longer."});
    } else if (killed) {
      const int number = WTERMSIG(ending.status);
      report.document["outcome"] = "crashed";
      report.document["signal"] = {{"number", number}, {"name", signal_name(number)}};
      add(&findings,
          {"RUN-CRASHED",
           std::string("The process was killed by ") + signal_name(number) + " " +
               place_text(place) + ".",
           log,
           number == SIGKILL ? "Too little memory is the usual cause."
                             : "See the other findings about the file; if there are none, report "
                               "it to the maker of the backend or of the kernel."});
    } else if (reply.is_object() && reply.contains("finding")) {
      report.document["outcome"] = "failed";
      report.document["error"] = reply["error"];
      Json finding = reply["finding"];
      std::string evidence = finding["evidence"].get<std::string>();
      evidence += (evidence.empty() ? "" : "; ") + std::string("reached: ") + place_text(place);
      finding["evidence"] = evidence + (log.empty() ? "" : "; log: " + log);
      findings.push_back(std::move(finding));
    } else {
      report.document["outcome"] = "failed";
      add(&findings,
          {"RUN-EXITED",
           "The process ended by itself with exit code " +
               std::to_string(WEXITSTATUS(ending.status)) + " " + place_text(place) + ".",
           log, "See the evidence."});
    }
  }
  for (const Json& finding : outline.findings()) {
    findings.push_back(finding);
  }
  report.document["findings"] = findings;
  munmap(progress, sizeof(Progress));
  return report;
}

}  // namespace etbk::runner
