// The semantic rules: what the runtime takes for granted and does not check, or checks too late.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container.hpp"
#include "findings.hpp"

namespace etbk::pte {

// Holds a file to every semantic rule. `external` is the .ptd that goes with a program, or null.
void check_semantics(const Container& file, const Container* external, Findings& findings);

// --- what the files of rules share ---------------------------------------------------------------

struct Scope {
  const Container& file;
  const Container* external;  // the .ptd, or null
  Findings& findings;
  Work& work;
};

// One method while it is checked.
struct MethodScope {
  const ps::ExecutionPlan* plan;
  std::string place;
  std::vector<uint8_t> has_memory;     // of each value: constant, planned, external, given
  std::vector<uint8_t> is_constant;    // of each value: a tensor in read-only memory
  std::vector<uint8_t> owns_no_block;  // of each value: a tensor whose memory the runtime allocates

  std::vector<uint32_t> xnnpack_arguments;  // of each delegate: how many its blob uses

  // NONE for a value that has no content.
  ps::KernelTypes kind(uint32_t value) const {
    const ps::EValue& entry = *plan->values()->Get(value);
    return entry.val() == nullptr && entry.val_type() != ps::KernelTypes::Null
               ? ps::KernelTypes::NONE
               : entry.val_type();
  }
  bool is_value(int64_t index) const {
    return index >= 0 && index < static_cast<int64_t>(plan->values()->size());
  }
  std::string value_place(uint32_t value) const {
    return place + ".values[" + std::to_string(value) + "]";
  }
};

void check_text(const Scope& scope, const fb::String* text, const std::string& place);
void check_tensor(const Scope& scope, MethodScope& method, uint32_t value);
void check_instructions(const Scope& scope, const MethodScope& method);
void check_delegates(const Scope& scope, MethodScope& method);
void check_segments(const Scope& scope);
void check_named_data(const Scope& scope);
void check_data_file(const Scope& scope);
void check_external_tensors(const Scope& scope, const Container& external);

// Elements times element size; false on overflow or a negative size.
bool tensor_bytes(const fb::Vector<int32_t>* sizes, uint32_t element, uint64_t* bytes);

}  // namespace etbk::pte
