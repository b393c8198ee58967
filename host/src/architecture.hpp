// Machine, word size and byte order of a library and of this process.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <string>

namespace etbk::host {

// What a library is built for.
struct Architecture {
  std::uint16_t machine = 0;  // e_machine
  bool is_64_bit = false;
  bool little_endian = false;
  bool operator==(const Architecture& other) const {
    return machine == other.machine && is_64_bit == other.is_64_bit &&
           little_endian == other.little_endian;
  }
};

// What this process is. Known at compile time.
Architecture own_architecture();

// "AArch64 (64-bit, little-endian)".
std::string to_text(const Architecture& architecture);

}  // namespace etbk::host
