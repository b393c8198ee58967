// The payload hash, as fast as this processor allows.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/payload_hash.h>

#include <cstddef>
#include <cstdint>

namespace etbk::pte {

class FastHash {
 public:
  FastHash();
  void add(const void* data, size_t size) { etbk_hash_add_with(&hash_, data, size, take_); }
  uint64_t end() const { return etbk_hash_end(&hash_); }

 private:
  EtbkHash hash_;
  EtbkHashStripes take_;
};

}  // namespace etbk::pte
