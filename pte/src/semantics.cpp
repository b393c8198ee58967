// Rules about the program as a whole, its methods and its values.
// Licence: BSD-3-Clause.
#include "semantics.hpp"

#include <string_view>
#include <unordered_set>

#include "text.hpp"

namespace etbk::pte {
namespace {

using Kind = ps::KernelTypes;

std::string index_of(int64_t value) { return "[" + std::to_string(value) + "]"; }

// A list of value indices inside another value.
template <typename Items>
void check_list(const Scope& scope, const MethodScope& method, uint32_t value, const Items* items,
                Kind element, bool earlier) {
  const std::string place = method.value_place(value);
  if (items == nullptr) {
    scope.findings.add(303, place + ".items", "absent");
    return;
  }
  const bool optional = method.kind(value) == Kind::OptionalTensorList;
  for (uint32_t i = 0; i < items->size() && scope.work.spend(1); ++i) {
    const auto index = static_cast<int64_t>(items->Get(i));
    if (optional && index == -1) {
      continue;
    }
    if (!method.is_value(index)) {
      scope.findings.add(304, place + ".items" + index_of(i),
                         std::to_string(index) + " of " +
                             std::to_string(method.plan->values()->size()) + " values");
      continue;
    }
    const auto to = static_cast<uint32_t>(index);
    if (earlier && to >= value) {
      scope.findings.add(305, place + ".items" + index_of(i), "value " + std::to_string(to));
    }
    const Kind kind = method.kind(to);
    if (kind != element && !(optional && kind == Kind::Null)) {
      scope.findings.add(306, place + ".items" + index_of(i),
                         "value " + std::to_string(to) + " is " + ps::EnumNameKernelTypes(kind) +
                             ", not " + ps::EnumNameKernelTypes(element));
    }
  }
}

void check_value(const Scope& scope, MethodScope& method, uint32_t index) {
  const ps::EValue* const value = method.plan->values()->Get(index);
  const Kind kind = value->val_type();
  if (kind > Kind::MAX || kind == Kind::NONE) {
    scope.findings.add(302, method.value_place(index),
                       "kind " + std::to_string(static_cast<unsigned>(kind)));
    return;
  }
  if (value->val() == nullptr) {
    if (kind != Kind::Null) {
      scope.findings.add(301, method.value_place(index), ps::EnumNameKernelTypes(kind));
    }
    return;
  }
  switch (kind) {
    case Kind::Tensor:
      check_tensor(scope, method, index);
      break;
    case Kind::IntList:
      check_list(scope, method, index, value->val_as_IntList()->items(), Kind::Int, false);
      break;
    case Kind::TensorList:
      check_list(scope, method, index, value->val_as_TensorList()->items(), Kind::Tensor, true);
      break;
    case Kind::OptionalTensorList:
      check_list(scope, method, index, value->val_as_OptionalTensorList()->items(), Kind::Tensor,
                 true);
      break;
    case Kind::DoubleList:
      if (value->val_as_DoubleList()->items() == nullptr) {
        scope.findings.add(303, method.value_place(index) + ".items", "absent");
      }
      break;
    case Kind::BoolList:
      if (value->val_as_BoolList()->items() == nullptr) {
        scope.findings.add(303, method.value_place(index) + ".items", "absent");
      }
      break;
    case Kind::String:
      if (value->val_as_String()->string_val() == nullptr) {
        scope.findings.add(303, method.value_place(index) + ".string_val", "absent");
      } else {
        scope.work.spend(value->val_as_String()->string_val()->size());
      }
      break;
    default:
      break;
  }
}

void check_ends(const Scope& scope, const MethodScope& method, const fb::Vector<int32_t>* ends,
                const char* name) {
  for (uint32_t i = 0; i < ends->size() && scope.work.spend(1); ++i) {
    const std::string place = method.place + "." + name + index_of(i);
    const int32_t index = ends->Get(i);
    if (!method.is_value(index)) {
      scope.findings.add(207, place,
                         std::to_string(index) + " of " +
                             std::to_string(method.plan->values()->size()) + " values");
      continue;
    }
    const Kind kind = method.kind(static_cast<uint32_t>(index));
    if (kind > Kind::String) {
      scope.findings.add(208, place, ps::EnumNameKernelTypes(kind));
    } else if (ends == method.plan->inputs() &&
               method.is_constant[static_cast<uint32_t>(index)] != 0) {
      scope.findings.add(209, place, "value " + std::to_string(index));
    }
  }
}

void check_memory_plan(const Scope& scope, const MethodScope& method) {
  const auto* const sizes = method.plan->non_const_buffer_sizes();
  const std::string place = method.place + ".non_const_buffer_sizes";
  if (sizes->size() == 0) {
    scope.findings.add(430, place, "empty; the first entry is reserved");
    return;
  }
  uint64_t total = 0;
  for (uint32_t i = 0; i < sizes->size() && scope.work.spend(1); ++i) {
    if (sizes->Get(i) < 0) {
      scope.findings.add(430, place + index_of(i), std::to_string(sizes->Get(i)) + " bytes");
    } else if (i > 0) {
      const auto size = static_cast<uint64_t>(sizes->Get(i));
      total = total + size < total ? UINT64_MAX : total + size;
    }
  }
  if (total > scope.file.limits().planned_bytes) {
    scope.findings.add(431, place,
                       std::to_string(total) + " bytes; the limit is " +
                           std::to_string(scope.file.limits().planned_bytes));
  }
  const auto* const devices = method.plan->non_const_buffer_device();
  for (uint32_t i = 0; devices != nullptr && i < devices->size() && scope.work.spend(1); ++i) {
    const auto* const entry = devices->Get(i);
    if (entry->buffer_idx() < 0 || static_cast<uint32_t>(entry->buffer_idx()) >= sizes->size() ||
        entry->device_type() < ps::DeviceType::MIN || entry->device_type() > ps::DeviceType::MAX) {
      scope.findings.add(432, method.place + ".non_const_buffer_device" + index_of(i),
                         "buffer " + std::to_string(entry->buffer_idx()) + ", device type " +
                             std::to_string(static_cast<int>(entry->device_type())));
    }
  }
}

// False if the rest of the method cannot be looked at.
bool has_required_lists(const Scope& scope, const MethodScope& method) {
  const ps::ExecutionPlan& plan = *method.plan;
  const struct {
    const char* name;
    bool there;
  } lists[] = {
      {"values", plan.values() != nullptr},
      {"inputs", plan.inputs() != nullptr},
      {"outputs", plan.outputs() != nullptr},
      {"chains", plan.chains() != nullptr},
      {"delegates", plan.delegates() != nullptr},
      {"operators", plan.operators() != nullptr},
      {"non_const_buffer_sizes", plan.non_const_buffer_sizes() != nullptr},
  };
  bool complete = true;
  for (const auto& list : lists) {
    if (!list.there) {
      scope.findings.add(206, method.place + "." + list.name, "absent");
      complete = false;
    }
  }
  return complete;
}

void check_method(const Scope& scope, MethodScope& method) {
  if (!has_required_lists(scope, method)) {
    return;
  }
  const size_t count = method.plan->values()->size();
  method.has_memory.assign(count, 0);
  method.is_constant.assign(count, 0);
  method.owns_no_block.assign(count, 0);
  check_memory_plan(scope, method);
  for (uint32_t i = 0; i < count && scope.work.spend(1); ++i) {
    check_value(scope, method, i);
  }
  check_ends(scope, method, method.plan->inputs(), "inputs");
  check_ends(scope, method, method.plan->outputs(), "outputs");
  check_delegates(scope, method);
  check_instructions(scope, method);
}

void check_methods(const Scope& scope) {
  const auto* const plans = scope.file.program()->execution_plan();
  if (plans == nullptr || plans->size() == 0) {
    scope.findings.add(201, "execution_plan", "empty");
    return;
  }
  std::unordered_set<std::string_view> names;
  for (uint32_t i = 0; i < plans->size() && scope.work.spend(1); ++i) {
    MethodScope method{plans->Get(i), "execution_plan" + index_of(i), {}, {}, {}, {}};
    const std::string place = method.place + ".name";
    if (view(method.plan->name()).empty()) {
      scope.findings.add(202, place, "absent or empty");
    } else if (!names.insert(view(method.plan->name())).second) {
      scope.findings.add(203, place, in_quotes(view(method.plan->name())));
    }
    check_text(scope, method.plan->name(), place);
    check_method(scope, method);
  }
}

}  // namespace

void check_text(const Scope& scope, const fb::String* text, const std::string& place) {
  scope.work.spend(view(text).size());
  if (!is_text(view(text))) {
    scope.findings.add(204, place, in_quotes(view(text)));
  }
}

void check_semantics(const Container& file, const Container* external, Findings& findings) {
  Work work(file.limits().work);
  const Scope scope{file, external, findings, work};
  if (file.kind() == Container::Kind::kData) {
    check_data_file(scope);
  } else {
    check_segments(scope);
    check_named_data(scope);
    check_methods(scope);
    if (external != nullptr && external->kind() != Container::Kind::kData) {
      findings.add(801, "external file", "it is a program");
    } else if (external != nullptr) {
      check_data_file(Scope{*external, nullptr, findings, work});
      check_external_tensors(scope, *external);
    }
  }
  if (work.exhausted()) {
    findings.add(15, "file", std::to_string(file.limits().work) + " list elements");
  }
}

}  // namespace etbk::pte
