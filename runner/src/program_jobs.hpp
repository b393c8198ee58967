// What can be asked about one program: load, first run, timed runs, who used the time.
//
// Requests and replies are JSON, in the fields of the worker protocol that `etbk compare` uses
// (python/executorch_backend_kit/compare/run_worker.py speaks it too).
// Licence: BSD-3-Clause.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "finding.hpp"
#include "memory.hpp"
#include "session.hpp"

namespace etbk::runner {

class ProgramJobs {
 public:
  explicit ProgramJobs(Progress* progress) : progress_(progress), session_(progress) {}

  // Each gives the reply, or {"finding": ..., "error": {number, name} or null}.
  Json hello();
  Json load(const Json& request);
  Json first(const Json& request);
  Json timed(const Json& request);
  Json shares();
  // All of it once, every instruction followed.
  Json whole(const Json& request);

 private:
  Json prepare(const Json& request);
  Json load_session(const Json& request, bool trace);
  Json failed(const char* code, const std::string& what, const Failure& failure) const;
  std::optional<Failure> provide_inputs();
  Json delegates() const;
  Json memory_growth() const;

  Progress* progress_;
  Session session_;
  std::vector<std::vector<Value>> inputs_;
  std::vector<Finding> findings_;
  Memory start_;
};

}  // namespace etbk::runner
