// One method of one program, loaded with ExecuTorch. No ExecuTorch type appears here.
//
// Each step tells `progress` before it begins, so that a crash can be placed.
// Licence: BSD-3-Clause.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "finding.hpp"
#include "progress.hpp"
#include "value.hpp"

namespace etbk::runner {

// In the words of ExecuTorch's Module::LoadMode. Empty if there is no such mode.
std::vector<std::string> load_modes();

struct LoadRequest {
  std::string program;
  std::vector<std::string> data;  // .ptd files
  std::string method = "forward";
  std::string load_mode = "MmapUseMlockIgnoreErrors";
  bool trace = false;  // follow every instruction
  std::string etdump;  // file to write in `finish`; needs trace
};

// A step that did not succeed. `error` is ExecuTorch's.
struct Failure {
  unsigned error = 0;
  std::string evidence;
};

class Session {
 public:
  explicit Session(Progress* progress);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  std::optional<Failure> load(const LoadRequest& request);
  std::optional<Failure> set_inputs(const std::vector<Value>& values);
  std::optional<Failure> execute();
  std::vector<Value> outputs() const;
  // Writes the ETDump if one was asked for.
  std::optional<Failure> finish();

  std::vector<uint64_t> planned_bytes() const;
  // What the method asks for; fills tensors with ones and numbers with one, at the largest size.
  std::optional<Failure> example_inputs(std::vector<Value>* values) const;

 private:
  struct Loaded;
  Progress* progress_;
  std::unique_ptr<Loaded> loaded_;
};

// What this process can run. A backend may be slow, or print, when it is asked.
std::vector<std::string> registered_backends();
bool is_available(const std::string& backend);
std::vector<std::string> missing_operators(const std::vector<std::string>& names);

// Threads of the pool that kernels and XNNPACK share; 0 leaves it. Returns how many there are.
unsigned set_threads(unsigned count);

}  // namespace etbk::runner
