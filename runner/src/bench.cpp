// Worker processes asked in turns.
// Licence: BSD-3-Clause.
#include "bench.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <deque>
#include <memory>

#include "executorch_runtime.hpp"
#include "program_outline.hpp"

namespace etbk::runner {
namespace {

constexpr double kTurnSeconds = 0.05;
constexpr int kLeastRounds = 3;
constexpr int kMostRounds = 200;

Json exited() {
  return {{"finding", Finding{"WORKER-EXITED", "The process that ran the program has ended.", "",
                              "etbk-run run FILE says where."}
                          .to_json()}};
}

// A child that answers requests of the worker protocol.
class Worker {
 public:
  explicit Worker(const std::string& executorch) {
    int requests[2];
    int replies[2];
    if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(replies, O_CLOEXEC) != 0) {
      return;
    }
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(requests[0], 0);
      dup2(2, 1);
      _exit(work(executorch, replies[1]));
    }
    close(requests[0]);
    close(replies[1]);
    requests_ = requests[1];
    replies_ = fdopen(replies[0], "r");
  }

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  ~Worker() {
    if (process_ > 0) {
      close(requests_);
      std::fclose(replies_);
      kill(process_, SIGKILL);  // a later child holds the other end of its pipe too
      waitpid(process_, nullptr, 0);
    }
  }

  Json receive() {
    char* line = nullptr;
    size_t room = 0;
    Json reply;
    if (replies_ != nullptr && getline(&line, &room, replies_) > 0) {
      reply = Json::parse(line, nullptr, false);
    }
    std::free(line);
    return reply.is_object() ? reply : exited();
  }

  Json ask(const Json& request) {
    const std::string line = dump(request) + "\n";
    if (write(requests_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      return exited();
    }
    return receive();
  }

 private:
  static int work(const std::string& executorch, int replies) {
    static Progress progress;
    RuntimeEntry entry = nullptr;
    if (const auto finding = load_executorch(executorch, &entry)) {
      const std::string line = dump({{"finding", finding->to_json()}}) + "\n";
      return write(replies, line.data(), line.size()) < 0 ? 3 : 1;
    }
    const RuntimeCall call = {"worker", "{}", &progress, replies, &set_backend_hook};
    return entry(&call);
  }

  pid_t process_ = -1;
  int requests_ = -1;
  std::FILE* replies_ = nullptr;
};

struct Track {
  Track(const std::string& program, const std::string& executorch)
      : worker(std::make_unique<Worker>(executorch)),
        row({{"file", program}, {"findings", Json::array()}}) {}
  Track(const Track&) = delete;
  Track& operator=(const Track&) = delete;

  std::unique_ptr<Worker> worker;
  Json row;
  std::vector<double> medians;  // of the rounds, in ns
  double minimum = 0;
  double cpu = 0;
  uint64_t count = 1;
  bool failed = false;

  void fail(const Json& reply) {
    failed = true;
    row["findings"].push_back(reply["finding"]);
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void load(Track& track, const std::string& program, const RunRequest& like) {
  const ProgramOutline outline(program);
  const std::string method = like.method.empty() ? "forward" : like.method;
  Json reply = track.worker->receive();
  if (!reply.contains("finding")) {
    reply = track.worker->ask({{"do", "load"},
                               {"program", program},
                               {"method", method},
                               {"data", like.data},
                               {"inputs", like.inputs.empty() ? Json::array() : Json{like.inputs}},
                               {"load_mode", like.load_mode},
                               {"threads", like.threads},
                               {"plugins", like.plugins},
                               {"discover", true},
                               {"backends", outline.backends(method)},
                               {"operators", outline.operators(method)}});
  }
  if (reply.contains("finding")) {
    return track.fail(reply);
  }
  for (const char* const key : {"load_ms", "load_mode", "threads", "planned_bytes"}) {
    track.row[key] = reply[key];
  }
  reply = track.worker->ask({{"do", "first"}, {"outputs", Json::array()}});
  if (reply.contains("finding")) {
    return track.fail(reply);
  }
  track.row.update(reply);
}

void turn(Track& track, bool counts) {
  const Json reply = track.worker->ask({{"do", "time"}, {"count", track.count}});
  if (reply.contains("finding")) {
    return track.fail(reply);
  }
  const auto middle = reply["median_ns"].get<double>();
  if (!counts) {
    track.count = std::clamp<uint64_t>(static_cast<uint64_t>(kTurnSeconds * 1e9 / middle), 1, 5000);
    return;
  }
  track.medians.push_back(middle);
  track.cpu = reply["cpu_ns"].get<double>();
  const auto least = reply["minimum_ns"].get<double>();
  track.minimum = track.minimum == 0 ? least : std::min(track.minimum, least);
}

}  // namespace

RunReport bench(const std::vector<std::string>& programs, const RunRequest& like, double budget) {
  std::signal(SIGPIPE, SIG_IGN);
  std::deque<Track> tracks;
  for (size_t i = 0; i < programs.size(); ++i) {
    tracks.emplace_back(programs[i], like.executorch);
    load(tracks[i], programs[i], like);
    for (int warm_up = 0; warm_up < 3 && !tracks[i].failed; ++warm_up) {
      turn(tracks[i], false);
    }
  }
  const int64_t start = now_ns();
  int rounds = 0;
  while (rounds < kLeastRounds ||
         (rounds < kMostRounds && static_cast<double>(now_ns() - start) < budget * 1e9)) {
    for (size_t i = 0; i < tracks.size(); ++i) {
      Track& track = tracks[rounds % 2 == 0 ? i : tracks.size() - 1 - i];
      if (!track.failed) {
        turn(track, true);
      }
    }
    ++rounds;
  }
  RunReport report;
  report.document = {{"schema", "etbk.bench/1"}, {"rows", Json::array()}};
  for (Track& track : tracks) {
    track.row["latency"] = nullptr;
    if (!track.failed) {
      track.row["latency"] = {{"median_ms", median(track.medians) / 1e6},
                              {"minimum_ms", track.minimum / 1e6},
                              {"cpu_ms", track.cpu / 1e6},
                              {"rounds", track.medians.size()}};
    }
    report.exit_code = track.failed ? 1 : report.exit_code;
    report.document["rows"].push_back(track.row);
  }
  return report;
}

}  // namespace etbk::runner
