// What XNNPACK's delegate takes for granted about the program around its blob.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container.hpp"

namespace etbk::pte {

struct XnnpackBlob {
  struct Named {
    std::string key;
    uint64_t size;
  };
  uint32_t arguments = 0;    // that the blob uses of its call
  std::vector<Named> named;  // constants in named data
};

// Empty if the blob is not XNNPACK's or its graph cannot be read: then its own checks decide.
XnnpackBlob read_xnnpack_blob(const Container& file, const Range& blob);

}  // namespace etbk::pte
