// SHA-256, for envelopes that ask for it.
// Licence: BSD-3-Clause.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace etbk::pte {

class Sha256 {
 public:
  void add(const uint8_t* data, size_t size);
  std::array<uint8_t, 32> end();

 private:
  void block(const uint8_t* data);

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint64_t total_ = 0;
  uint8_t rest_[64] = {};
};

}  // namespace etbk::pte
