// Names of the stages, and the clock they are timed with.
// Licence: BSD-3-Clause.
#include "progress.hpp"

#include <ctime>

namespace etbk::runner {

const char* stage_name(Stage stage) {
  switch (stage) {
    case Stage::kStart:
      return "start";
    case Stage::kRuntime:
      return "runtime";
    case Stage::kPrepare:
      return "prepare";
    case Stage::kOpen:
      return "open";
    case Stage::kProgram:
      return "program";
    case Stage::kMethod:
      return "method";
    case Stage::kDelegate:
      return "delegate";
    case Stage::kInputs:
      return "inputs";
    case Stage::kExecute:
      return "execute";
    case Stage::kOutputs:
      return "outputs";
    case Stage::kDone:
      return "done";
  }
  return "";
}

void Progress::enter(Stage next) {
  stage.store(next);
  std::atomic<int64_t>& entered = entered_ns[static_cast<int>(next)];
  if (entered.load(std::memory_order_relaxed) == 0) {
    entered.store(now_ns());
  }
}

int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

}  // namespace etbk::runner
