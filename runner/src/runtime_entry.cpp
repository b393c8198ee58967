// The one function that etbk-run calls in this library.
// Licence: BSD-3-Clause.
#include <executorch/runtime/platform/runtime.h>
#include <executorch_backend_kit/plugin.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <string>

#include "backend_watch.hpp"
#include "program_jobs.hpp"
#include "runtime_call.hpp"

extern "C" int etbk_write_profile(const char* path);

namespace etbk::runner {
namespace {

bool reply_with(int descriptor, const Json& reply) {
  const std::string line = dump(reply) + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = write(descriptor, line.data() + done, line.size() - done);
    if (count <= 0) {
      return false;
    }
    done += static_cast<size_t>(count);
  }
  return true;
}

Json answer(ProgramJobs& jobs, const std::string& what, const Json& request) {
  if (what == "load") {
    return jobs.load(request);
  }
  if (what == "first") {
    return jobs.first(request);
  }
  if (what == "time") {
    return jobs.timed(request);
  }
  if (what == "shares") {
    return jobs.shares();
  }
  return {{"finding", Finding{"WORKER-ERROR", "The worker was asked for something unknown.", what,
                              "Use the etbk-run of the same release."}
                          .to_json()}};
}

// Answers requests on standard input, one a line, until it ends.
int serve(ProgramJobs& jobs, int replies) {
  reply_with(replies, jobs.hello());
  std::string line;
  while (std::getline(std::cin, line)) {
    const Json request = Json::parse(line, nullptr, false);
    if (!request.is_object()) {
      return 1;
    }
    Json reply = answer(jobs, request.value("do", std::string()), request);
    if (reply.contains("finding")) {
      reply["stage"] = request.value("do", std::string());
    }
    if (!reply_with(replies, reply)) {
      return 1;
    }
  }
  return 0;
}

int enter(const RuntimeCall& call) {
  ::executorch::runtime::runtime_init();
  call.set_hook(&BackendWatch::wrap);
  const Json request = Json::parse(call.request, nullptr, false);
  if (std::strcmp(call.command, "profile") == 0) {
    return etbk_write_profile(request.value("path", std::string()).c_str());
  }
  // Never destroyed: the process ends by _exit, as a run that crashed in a destructor is none.
  static auto* const jobs = new ProgramJobs(call.progress);
  if (std::strcmp(call.command, "worker") == 0) {
    return serve(*jobs, call.replies);
  }
  const Json reply = jobs->whole(request);
  reply_with(call.replies, reply);
  return reply.contains("finding") ? 1 : 0;
}

}  // namespace
}  // namespace etbk::runner

extern "C" ETBK_EXPORT int etbk_run_entry(const etbk::runner::RuntimeCall* call) {
  return etbk::runner::enter(*call);
}
