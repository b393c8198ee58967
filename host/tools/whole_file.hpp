// Writes a file whole or not at all: to a temporary name beside it, then renamed.
// Licence: BSD-3-Clause.
#pragma once

#include <string>

namespace etbk::host {

// Returns an empty text on success, else the reason; an existing file is then as it was.
std::string write_whole_file(const std::string& path, const std::string& text);

}  // namespace etbk::host
