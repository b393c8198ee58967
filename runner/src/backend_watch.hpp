// Stands between ExecuTorch and its backends while a method is loaded, so that it is known which
// delegate is in init or in execute, how often each was called, and how long that took.
//
// ExecuTorch looks a backend up by `get_backend_class`. The program etbk-run exports a function of
// that name, which the loader prefers to the one in libexecutorch.so; it asks the hook set here.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "progress.hpp"

namespace etbk::runner {

// One delegate of the method that was loaded last, in the program's order.
struct DelegateRecord {
  std::string backend;
  uint64_t blob_bytes = 0;
  bool available = false;
  bool initialized = false;
  unsigned error = 0;  // of init
  int64_t init_ns = 0;
  int64_t calls = 0;
  int64_t execute_ns = 0;  // only while timing
};

class BackendWatch {
 public:
  // From now on every delegate that is initialized gets a record. Once per process.
  static void begin(Progress* progress);
  // Backends are given to ExecuTorch as they are again; delegates keep their records.
  static void end();

  // Reads the clock at each execute.
  static void set_timing(bool timing);
  static void reset_counts();

  static std::vector<DelegateRecord> records();

  // For the hook: what to return for a backend that was found under this name.
  static void* wrap(void* backend, const char* name);
};

}  // namespace etbk::runner
