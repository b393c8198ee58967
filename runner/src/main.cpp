// etbk-run: loads, runs, measures and judges programs on a machine without Python.
// Licence: BSD-3-Clause.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "bench.hpp"
#include "command_line.hpp"
#include "executorch_runtime.hpp"
#include "file_commands.hpp"
#include "staged_run.hpp"

namespace {

using namespace etbk::runner;

constexpr const char* kUsage =
    R"(etbk-run: loads, runs, measures and judges ExecuTorch programs, without Python.

  etbk-run run FILE        stage by stage in a child process: how far it comes, and why it ends
  etbk-run bench FILE...   load, first and steady time, in interleaved rounds
  etbk-run profile         what this runtime has: backends and kernels, as JSON
  etbk-run check FILE      will it run here (or with --runtime PROFILE); nothing is run
  etbk-run inspect FILE    what is in the file, as JSON
  etbk-run worker          answers requests on standard input, as `etbk compare` asks them

Options of run and bench:
  --inputs DIR       a folder with index.json and one file per tensor; default: ones
  --method NAME      default: forward
  --plugin FILE      a plugin to load, may be repeated; others are discovered
  --data FILE        a .ptd file of the program, may be repeated
  --load-mode MODE   File, Mmap, MmapUseMlock, MmapUseMlockIgnoreErrors (default)
  --threads N        of the pool that kernels and XNNPACK share
  --json             print etbk.run/1 or etbk.bench/1
Of run:   --outputs DIR, --etdump FILE, --time-limit SECONDS (default 900)
Of bench: --budget SECONDS (default 10)
Of all that run: --executorch DIR, the installed package; default: beside the kit, or ETBK_EXECUTORCH

Exit code 0: answered. 1: it failed, or is blocked. 2: bad command line. 3: could not decide.
)";

int wrong_use(const std::string& what) {
  std::cerr << "etbk-run: " << what << "\n  etbk-run --help lists what there is.\n";
  return 2;
}

void print_findings(const Json& findings) {
  for (const Json& finding : findings) {
    std::cout << finding["severity"].get<std::string>() << "[" << finding["code"].get<std::string>()
              << "]: " << finding["message"].get<std::string>() << "\n";
    for (const auto& [key, label] : {std::pair{"evidence", "seen: "}, std::pair{"fix", "do:   "}}) {
      const auto text = finding[key].get<std::string>();
      if (!text.empty()) {
        std::cout << "  " << label << text << "\n";
      }
    }
  }
}

int print_run(const RunReport& report, bool as_json) {
  const Json& document = report.document;
  if (as_json) {
    std::cout << dump(document, 2) << "\n";
    return report.exit_code;
  }
  std::cout << document["file"].get<std::string>() << ", method "
            << document["method"].get<std::string>() << ": "
            << document["outcome"].get<std::string>() << "\n";
  for (const Json& stage : document["stages"]) {
    std::printf("  %-9s %-7s", stage["stage"].get<std::string>().c_str(),
                stage["status"].get<std::string>().c_str());
    std::fflush(stdout);
    if (stage["ms"].is_number()) {
      std::printf(" %.2f ms", stage["ms"].get<double>());
    }
    std::printf("\n");
  }
  std::fflush(stdout);
  print_findings(document["findings"]);
  return report.exit_code;
}

int print_bench(const RunReport& report, bool as_json) {
  if (as_json) {
    std::cout << dump(report.document, 2) << "\n";
    return report.exit_code;
  }
  for (const Json& row : report.document["rows"]) {
    std::cout << row["file"].get<std::string>();
    if (row["latency"].is_object()) {
      char text[160];
      std::snprintf(text, sizeof text, ": load %.2f ms, first %.2f ms, median %.3f ms",
                    row["load_ms"].get<double>(), row["first_ms"].get<double>(),
                    row["latency"]["median_ms"].get<double>());
      std::cout << text;
    }
    std::cout << "\n";
    print_findings(row["findings"]);
  }
  return report.exit_code;
}

int run_or_bench(const std::string& command, int count, char** words) {
  std::string wrong;
  const auto line =
      CommandLine::parse(count, words,
                         {"--inputs", "--method", "--plugin", "--data", "--load-mode", "--threads",
                          "--outputs", "--etdump", "--time-limit", "--budget", "--executorch"},
                         {"--json"}, &wrong);
  if (!line) {
    return wrong_use(wrong);
  }
  RunRequest request;
  request.method = line->get("--method");
  request.inputs = line->get("--inputs");
  request.outputs = line->get("--outputs");
  request.etdump = line->get("--etdump");
  request.load_mode = line->get("--load-mode", request.load_mode);
  request.executorch = line->get("--executorch");
  request.plugins = line->all("--plugin");
  request.data = line->all("--data");
  request.threads = static_cast<unsigned>(std::min(line->number("--threads", 0, 1, &wrong), 1e6));
  request.time_limit = line->number("--time-limit", request.time_limit, 0.001, &wrong);
  const double budget = line->number("--budget", 10, 0, &wrong);
  if (!wrong.empty()) {
    return wrong_use(wrong);
  }
  if (line->rest().empty() || (command == "run" && line->rest().size() > 1)) {
    return wrong_use(command + " needs " + (command == "run" ? "one file" : "a file"));
  }
  if (command == "run") {
    request.program = line->rest().front();
    return print_run(run_in_stages(request), line->has("--json"));
  }
  return print_bench(bench(line->rest(), request, budget), line->has("--json"));
}

// Runs a command of the library in this process.
int in_this_process(const char* command, const Json& request, const std::string& executorch,
                    int replies) {
  static Progress progress;
  RuntimeEntry entry = nullptr;
  if (const auto finding = load_executorch(executorch, &entry)) {
    std::cout << dump({{"finding", finding->to_json()}, {"stage", "start"}}) << "\n";
    return 3;
  }
  const std::string text = dump(request);
  const RuntimeCall call = {command, text.c_str(), &progress, replies, &set_backend_hook};
  return entry(&call);
}

int worker(const std::string& executorch) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int replies = fcntl(1, F_DUPFD_CLOEXEC, 3);
  dup2(2, 1);  // whatever a backend prints is no reply
  const int status = in_this_process("worker", Json::object(), executorch, replies);
  std::fflush(nullptr);
  _exit(status);
}

int write_profile(const std::string& executorch, const std::string& path) {
  const std::string part = path + ".part";
  const int status = in_this_process("profile", {{"path", part}}, executorch, 1);
  if (status != 0) {
    return status;
  }
  return std::rename(part.c_str(), path.c_str()) == 0 ? 0 : 1;
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The profile of the runtime here, by way of a file that is removed.
int profile_here(const std::string& executorch, std::string* profile) {
  char path[] = "/tmp/etbk-run-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0) {
    return 3;
  }
  close(file);
  const int status = in_this_process("profile", {{"path", path}}, executorch, 1);
  *profile = text_of_file(path);
  unlink(path);
  return status;
}

int about_runtime_or_file(const std::string& command, int count, char** words) {
  std::string wrong;
  const auto line =
      CommandLine::parse(count, words, {"--runtime", "--data", "--executorch", "--output"},
                         {"--hash", "--json"}, &wrong);
  if (!line) {
    return wrong_use(wrong);
  }
  const std::string executorch = line->get("--executorch");
  if (command == "worker") {
    return worker(executorch);
  }
  if (command == "profile") {
    if (line->has("--output")) {
      return write_profile(executorch, line->get("--output"));
    }
    std::string profile;
    const int status = profile_here(executorch, &profile);
    std::cout << profile;
    return status;
  }
  if (line->rest().size() != 1) {
    return wrong_use(command + " needs one file");
  }
  FileAnswer answer;
  if (command == "inspect") {
    answer = inspect_file(line->rest().front(), line->has("--hash"));
  } else {
    std::string profile = text_of_file(line->get("--runtime"));
    if (!line->has("--runtime") && profile_here(executorch, &profile) != 0) {
      return 3;
    }
    answer = check_file(line->rest().front(), line->get("--data"), profile);
  }
  std::cout << answer.document << "\n";
  return answer.exit_code;
}

int command_line(int count, char** words) {
  const std::string command = count < 2 ? "--help" : words[1];
  if (command == "--help" || command == "-h") {
    std::cout << kUsage;
    return count < 2 ? 2 : 0;
  }
  if (command == "--version") {
    std::cout << "etbk-run " ETBK_RUN_VERSION "\n";
    return 0;
  }
  if (command == "run" || command == "bench") {
    return run_or_bench(command, count - 2, words + 2);
  }
  if (command == "profile" || command == "check" || command == "inspect" || command == "worker") {
    return about_runtime_or_file(command, count - 2, words + 2);
  }
  return wrong_use("there is no command " + command);
}

}  // namespace

int main(int count, char** words) {
  try {
    return command_line(count, words);
  } catch (const std::exception& error) {  // memory is exhausted
    std::fprintf(stderr, "etbk-run: %s\n", error.what());
    return 3;
  }
}
