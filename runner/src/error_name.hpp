// ExecuTorch's error numbers by name. What each means is `etbk help`'s matter.
// Licence: BSD-3-Clause.
#pragma once

#include <string>

namespace etbk::runner {

// "InvalidProgram", or "unknown".
const char* error_name(unsigned error);

// "ExecuTorch error 0x23, InvalidProgram"
std::string error_text(unsigned error);

}  // namespace etbk::runner
