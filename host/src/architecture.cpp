// Names of machines, and which one this is.
// Licence: BSD-3-Clause.
#include "architecture.hpp"

#include <cstring>

namespace etbk::host {
namespace {

struct Machine {
  std::uint16_t number;
  const char* name;
};
constexpr Machine kMachines[] = {
    {3, "x86"},       {8, "MIPS"},     {20, "PowerPC"},    {21, "PowerPC64"},
    {22, "S/390"},    {40, "ARM"},     {62, "x86-64"},     {164, "Hexagon"},
    {183, "AArch64"}, {243, "RISC-V"}, {258, "LoongArch"},
};

}  // namespace

Architecture own_architecture() {
  Architecture own;
#if defined(__x86_64__)
  own.machine = 62;
#elif defined(__i386__)
  own.machine = 3;
#elif defined(__aarch64__)
  own.machine = 183;
#elif defined(__arm__)
  own.machine = 40;
#elif defined(__riscv)
  own.machine = 243;
#elif defined(__powerpc64__)
  own.machine = 21;
#elif defined(__s390x__)
  own.machine = 22;
#elif defined(__loongarch__)
  own.machine = 258;
#else
#error "add the e_machine number of this architecture"
#endif
  own.is_64_bit = sizeof(void*) == 8;
  const std::uint16_t probe = 1;
  std::uint8_t first = 0;
  std::memcpy(&first, &probe, 1);
  own.little_endian = first == 1;
  return own;
}

std::string to_text(const Architecture& architecture) {
  std::string text = "machine " + std::to_string(architecture.machine);
  for (const Machine& machine : kMachines) {
    if (machine.number == architecture.machine) {
      text = machine.name;
    }
  }
  text += architecture.is_64_bit ? " (64-bit, " : " (32-bit, ";
  return text + (architecture.little_endian ? "little-endian)" : "big-endian)");
}

}  // namespace etbk::host
