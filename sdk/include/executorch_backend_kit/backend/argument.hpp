// ExecuTorch Backend Kit, author API: the descriptor of one argument of execute.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/span.hpp>

#include <cstdint>

namespace etbk {
inline namespace author_1 {

// ETBK_DTYPE_... of a C++ type. ExecuTorch's 16-bit floats have no C++17 type: specialize this for
// the type that you use for them.
template <class T>
struct DtypeOf;
#define ETBK_DTYPE_OF_(type, name)                       \
  template <>                                            \
  struct DtypeOf<type> {                                 \
    static constexpr uint32_t value = ETBK_DTYPE_##name; \
  };
ETBK_DTYPE_OF_(uint8_t, UINT8)
ETBK_DTYPE_OF_(int8_t, INT8)
ETBK_DTYPE_OF_(uint16_t, UINT16)
ETBK_DTYPE_OF_(int16_t, INT16)
ETBK_DTYPE_OF_(uint32_t, UINT32)
ETBK_DTYPE_OF_(int32_t, INT32)
ETBK_DTYPE_OF_(uint64_t, UINT64)
ETBK_DTYPE_OF_(int64_t, INT64)
ETBK_DTYPE_OF_(float, FLOAT32)
ETBK_DTYPE_OF_(double, FLOAT64)
ETBK_DTYPE_OF_(bool, BOOL)
#undef ETBK_DTYPE_OF_

// A descriptor that the host keeps. A copy costs a pointer; what it points to is valid during the
// execute that showed it. Sizes are the application's word: check each dimension (ABI-051).
class Argument {
 public:
  explicit Argument(const EtbkArgument& argument) noexcept : argument_(&argument) {}

  const EtbkArgument& abi() const noexcept { return *argument_; }

  uint32_t kind() const noexcept { return argument_->kind; }  // ETBK_ARGUMENT_...
  bool is_tensor() const noexcept { return argument_->kind == ETBK_ARGUMENT_TENSOR; }

  // For tensors.
  uint32_t dtype() const noexcept { return argument_->dtype; }  // ETBK_DTYPE_...
  uint32_t rank() const noexcept { return argument_->rank; }
  Span<const int32_t> sizes() const noexcept { return {argument_->sizes, argument_->rank}; }
  Span<const int32_t> strides() const noexcept { return {argument_->strides, argument_->rank}; }
  Span<const uint8_t> dim_order() const noexcept { return {argument_->dim_order, argument_->rank}; }
  size_t size_bytes() const noexcept { return argument_->size_bytes; }
  size_t capacity_bytes() const noexcept { return argument_->capacity_bytes; }  // 0 = unknown
  uint32_t dynamism() const noexcept { return argument_->dynamism; }            // ETBK_DYNAMISM_...
  uint32_t device_type() const noexcept { return argument_->device_type; }      // ETBK_DEVICE_...
  int32_t device_index() const noexcept { return argument_->device_index; }
  // True if the elements lie in the order of the dimensions, without gaps.
  bool is_contiguous() const noexcept {
    for (uint32_t i = 0; i < argument_->rank; ++i) {
      if (argument_->dim_order[i] != i) {
        return false;
      }
    }
    return true;
  }

  // For texts and lists: the number of elements.
  size_t count() const noexcept { return argument_->count; }

 private:
  const EtbkArgument* argument_;
};

// What a backend was compiled for, for ExecuteContext::check. Points to arrays of the caller's
// with `rank` entries each.
class Expectation {
 public:
  Expectation(uint32_t dtype, uint32_t rank) noexcept {
    expectation_.struct_size = sizeof(expectation_);
    expectation_.dtype = dtype;
    expectation_.rank = rank;
  }
  // Each dimension may lie between these. NULL: from 0, or without an upper bound.
  Expectation& between(const int32_t* minimum, const int32_t* maximum) noexcept {
    expectation_.minimum_sizes = minimum;
    expectation_.maximum_sizes = maximum;
    return *this;
  }
  Expectation& exactly(const int32_t* sizes) noexcept { return between(sizes, sizes); }
  // Default: contiguous.
  Expectation& dim_order(const uint8_t* order) noexcept {
    expectation_.dim_order = order;
    return *this;
  }

  const EtbkExpectation& abi() const noexcept { return expectation_; }

 private:
  EtbkExpectation expectation_{};
};

}  // namespace author_1
}  // namespace etbk
