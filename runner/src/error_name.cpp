// The table of error names (runtime/core/error.h).
// Licence: BSD-3-Clause.
#include "error_name.hpp"

#include <cstdio>

namespace etbk::runner {
namespace {

constexpr struct {
  unsigned number;
  const char* name;
} kErrors[] = {
    {0x00, "Ok"},
    {0x01, "Internal"},
    {0x02, "InvalidState"},
    {0x03, "EndOfMethod"},
    {0x04, "AlreadyLoaded"},
    {0x10, "NotSupported"},
    {0x11, "NotImplemented"},
    {0x12, "InvalidArgument"},
    {0x13, "InvalidType"},
    {0x14, "OperatorMissing"},
    {0x15, "RegistrationExceedingMaxKernels"},
    {0x16, "RegistrationAlreadyRegistered"},
    {0x20, "NotFound"},
    {0x21, "MemoryAllocationFailed"},
    {0x22, "AccessFailed"},
    {0x23, "InvalidProgram"},
    {0x24, "InvalidExternalData"},
    {0x25, "OutOfResources"},
    {0x30, "DelegateInvalidCompatibility"},
    {0x31, "DelegateMemoryAllocationFailed"},
    {0x32, "DelegateInvalidHandle"},
};

}  // namespace

const char* error_name(unsigned error) {
  for (const auto& row : kErrors) {
    if (row.number == error) {
      return row.name;
    }
  }
  return "unknown";
}

std::string error_text(unsigned error) {
  char number[16];
  std::snprintf(number, sizeof number, "0x%x", error);
  return std::string("ExecuTorch error ") + number + ", " + error_name(error);
}

}  // namespace etbk::runner
