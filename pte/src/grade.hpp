// How a blob fits a backend, in sentences that name both sides.
// Licence: BSD-3-Clause.
#pragma once

#include <string>

#include "blob.hpp"

namespace etbk::pte {

struct BlobReader {
  std::string id;
  uint32_t format_oldest = 0;
  uint32_t format_newest = UINT32_MAX;
  std::string arch;
};

const char* grade_name(uint32_t grade);

// {"grade", "verdict", "sentence", "cure"}
Json grade_json(const void* blob, size_t size, uint64_t blob_size, const BlobReader& reader);

}  // namespace etbk::pte
