// How far a run has come, in memory that outlives a crash of the process that runs.
//
// The child that loads and executes writes; the parent reads after the child's end. Plain atomics:
// a store is visible even if the next instruction kills the process.
// Licence: BSD-3-Clause.
#pragma once

#include <atomic>
#include <cstdint>

namespace etbk::runner {

// In the order in which they are passed. A delegate's init is a stage inside kMethod.
enum class Stage : int32_t {
  kStart,
  kRuntime,
  kPrepare,
  kOpen,
  kProgram,
  kMethod,
  kDelegate,
  kInputs,
  kExecute,
  kOutputs,
  kDone,
};
constexpr int kStages = static_cast<int>(Stage::kDone) + 1;

const char* stage_name(Stage stage);

struct Progress {
  std::atomic<Stage> stage{Stage::kStart};
  std::atomic<int64_t> entered_ns[kStages] = {};  // 0: not reached
  std::atomic<int32_t> delegate{-1};              // the one that is in init or execute
  std::atomic<int32_t> delegate_calls{0};         // of execute
  std::atomic<int64_t> chain{-1};                 // the instruction that is executed
  std::atomic<int64_t> instruction{-1};
  std::atomic<int64_t> instructions_done{0};

  void enter(Stage next);
};

int64_t now_ns();

}  // namespace etbk::runner
