// The four kinds of lists with elements of 64 bits that the schema has.
// Licence: BSD-3-Clause.
#include "alignment.hpp"

#include <cstdint>

namespace etbk::pte {
namespace {

// Writers do not align what is empty, and nobody reads it.
template <typename List>
bool is_misaligned(const List* list) {
  constexpr uintptr_t kElement = 8;
  return list != nullptr && list->size() != 0 &&
         reinterpret_cast<uintptr_t>(list->data()) % kElement != 0;
}

std::string place(const char* list, uint32_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

std::string in_plan(const ps::ExecutionPlan& plan) {
  if (is_misaligned(plan.non_const_buffer_sizes())) {
    return ".non_const_buffer_sizes";
  }
  for (uint32_t i = 0; plan.values() != nullptr && i < plan.values()->size(); ++i) {
    const ps::EValue& value = *plan.values()->Get(i);
    const ps::IntList* const integers = value.val_as_IntList();
    const ps::DoubleList* const reals = value.val_as_DoubleList();
    if ((integers != nullptr && is_misaligned(integers->items())) ||
        (reals != nullptr && is_misaligned(reals->items()))) {
      return place(".values", i) + ".items";
    }
  }
  return "";
}

}  // namespace

std::string misaligned_list(const ps::Program& program) {
  if (program.constant_segment() != nullptr &&
      is_misaligned(program.constant_segment()->offsets())) {
    return "constant_segment.offsets";
  }
  const auto* const segments = program.mutable_data_segments();
  for (uint32_t i = 0; segments != nullptr && i < segments->size(); ++i) {
    if (is_misaligned(segments->Get(i)->offsets())) {
      return place("mutable_data_segments", i) + ".offsets";
    }
  }
  const auto* const plans = program.execution_plan();
  for (uint32_t i = 0; plans != nullptr && i < plans->size(); ++i) {
    const std::string in = in_plan(*plans->Get(i));
    if (!in.empty()) {
      return place("execution_plan", i) + in;
    }
  }
  return "";
}

}  // namespace etbk::pte
