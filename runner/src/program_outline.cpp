// Looks into a verified FlatBuffer; indices are checked, since the semantic rules may have failed.
// Licence: BSD-3-Clause.
#include "program_outline.hpp"

#include <algorithm>

#include "report.hpp"
#include "semantics.hpp"
#include "text.hpp"

namespace etbk::runner {
namespace {

namespace ps = pte::ps;

template <typename List>
auto item(const List* list, int64_t index) -> decltype(list->Get(0)) {
  return list != nullptr && index >= 0 && index < static_cast<int64_t>(list->size())
             ? list->Get(static_cast<uint32_t>(index))
             : nullptr;
}

template <typename List>
uint32_t count_of(const List* list) {
  return list == nullptr ? 0 : list->size();
}

void add_once(std::vector<std::string>* names, std::string name) {
  if (std::find(names->begin(), names->end(), name) == names->end()) {
    names->push_back(std::move(name));
  }
}

std::string operator_name(const ps::Operator& op) {
  const std::string overload(pte::view(op.overload()));
  return std::string(pte::view(op.name())) + (overload.empty() ? "" : "." + overload);
}

}  // namespace

ProgramOutline::ProgramOutline(const std::string& path) {
  file_ = pte::Container::open(pte::ByteFile::open(path, findings_), pte::Limits(), findings_);
  if (file_ != nullptr) {
    pte::check_semantics(*file_, nullptr, findings_);
  }
}

bool ProgramOutline::is_program() const {
  return file_ != nullptr && file_->kind() == pte::Container::Kind::kProgram;
}

const ps::ExecutionPlan* ProgramOutline::plan(const std::string& method) const {
  const auto* const plans = is_program() ? file_->program()->execution_plan() : nullptr;
  for (uint32_t i = 0; i < count_of(plans); ++i) {
    if (pte::view(plans->Get(i)->name()) == method) {
      return plans->Get(i);
    }
  }
  return nullptr;
}

std::vector<std::string> ProgramOutline::methods() const {
  std::vector<std::string> names;
  const auto* const plans = is_program() ? file_->program()->execution_plan() : nullptr;
  for (uint32_t i = 0; i < count_of(plans); ++i) {
    names.emplace_back(pte::view(plans->Get(i)->name()));
  }
  return names;
}

std::vector<std::string> ProgramOutline::backends(const std::string& method) const {
  std::vector<std::string> ids;
  const auto* const found = plan(method);
  for (uint32_t i = 0; found != nullptr && i < count_of(found->delegates()); ++i) {
    add_once(&ids, std::string(pte::view(found->delegates()->Get(i)->id())));
  }
  return ids;
}

std::vector<std::string> ProgramOutline::operators(const std::string& method) const {
  std::vector<std::string> names;
  const auto* const found = plan(method);
  for (uint32_t i = 0; found != nullptr && i < count_of(found->operators()); ++i) {
    add_once(&names, operator_name(*found->operators()->Get(i)));
  }
  return names;
}

std::string ProgramOutline::delegate_id(const std::string& method, int64_t index) const {
  const auto* const found = plan(method);
  const auto* const delegate = found == nullptr ? nullptr : item(found->delegates(), index);
  return delegate == nullptr ? "" : std::string(pte::view(delegate->id()));
}

Json ProgramOutline::instruction(const std::string& method, int64_t chain, int64_t index) const {
  const auto* const found = plan(method);
  const auto* const where = found == nullptr ? nullptr : item(found->chains(), chain);
  const auto* const what = where == nullptr ? nullptr : item(where->instructions(), index);
  if (what == nullptr) {
    return nullptr;
  }
  Json row = {{"kind", ps::EnumNameInstructionArguments(what->instr_args_type())},
              {"operator", nullptr},
              {"delegate", nullptr}};
  if (const auto* const kernel = what->instr_args_as_KernelCall()) {
    const auto* const op = item(found->operators(), kernel->op_index());
    row["operator"] = op == nullptr ? Json(nullptr) : pte::json_text(operator_name(*op));
  } else if (const auto* const call = what->instr_args_as_DelegateCall()) {
    row["delegate"] = call->delegate_index();
  }
  return row;
}

Json ProgramOutline::findings() const { return pte::findings_json(findings_); }

}  // namespace etbk::runner
