// The seam between the program etbk-run, which needs no ExecuTorch, and the library
// libetbk_run-LINE.so, which is bound to the installed one and loaded only when something runs.
// Licence: BSD-3-Clause.
#pragma once

#include "progress.hpp"

namespace etbk::runner {

// Gives what to return for a backend that ExecuTorch looks up; see backend_watch.hpp.
using BackendHook = void* (*)(void* backend, const char* name);

struct RuntimeCall {
  const char* command;  // "run", "worker", "profile"
  const char* request;  // JSON
  Progress* progress;
  int replies;  // file descriptor for JSON lines
  void (*set_hook)(BackendHook hook);
};

// Exit status: 0, or 1 if the answer is a finding.
using RuntimeEntry = int (*)(const RuntimeCall* call);
constexpr const char* kRuntimeEntry = "etbk_run_entry";

}  // namespace etbk::runner
