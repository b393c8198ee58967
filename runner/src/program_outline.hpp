// What a program file says of its methods, read without ExecuTorch: what a run has to provide, and
// what the instruction at a place is.
// Licence: BSD-3-Clause.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "container.hpp"
#include "finding.hpp"

namespace etbk::runner {

class ProgramOutline {
 public:
  explicit ProgramOutline(const std::string& path);

  bool is_readable() const { return file_ != nullptr; }
  bool is_program() const;
  std::vector<std::string> methods() const;
  // Ids, each once; "name.overload" of operators, each once.
  std::vector<std::string> backends(const std::string& method) const;
  std::vector<std::string> operators(const std::string& method) const;
  std::string delegate_id(const std::string& method, int64_t index) const;

  // {"kind", "operator" or null, "delegate" or null}; null if there is no such instruction.
  Json instruction(const std::string& method, int64_t chain, int64_t index) const;

  // Everything that is wrong with the file, as `etbk inspect` says it.
  Json findings() const;

 private:
  const pte::ps::ExecutionPlan* plan(const std::string& method) const;

  pte::Findings findings_;
  std::unique_ptr<pte::Container> file_;
};

}  // namespace etbk::runner
