// A value that goes into a method or comes out of it, without a type of ExecuTorch.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace etbk::runner {

struct Value {
  enum class Kind { kTensor, kNone, kBool, kInt, kDouble, kString };

  Kind kind = Kind::kNone;
  // kTensor
  int dtype = 0;  // ExecuTorch's ScalarType
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;  // dimensions from the slowest to the fastest in memory
  std::vector<uint8_t> bytes;
  // the others
  int64_t integer = 0;  // also of kBool
  double number = 0;
  std::string text;
};

}  // namespace etbk::runner
