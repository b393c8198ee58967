// The device's operations.
#pragma once

#include "blob.hpp"

#include <array>

namespace reference {

// A tensor in device memory: contiguous, float32.
struct View {
  float* data = nullptr;
  uint32_t rank = 0;
  std::array<int64_t, kMaxRank> sizes{};

  int64_t elements() const {
    int64_t product = 1;
    for (uint32_t axis = 0; axis < rank; ++axis) {
      product *= sizes[axis];
    }
    return product;
  }
  size_t bytes() const { return static_cast<size_t>(elements()) * sizeof(float); }
};

// One launch: an operation with its operands in place.
struct Command {
  Operation operation;
  View inputs[3];
  View output;
};

// True if the shapes of a command fit its operation; `run` needs that.
bool fits(const Command& command);

void run(const Command& command);

}  // namespace reference
