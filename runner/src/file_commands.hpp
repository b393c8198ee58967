// inspect and check: about a file, through the library that reads program files.
// Licence: BSD-3-Clause.
#pragma once

#include <string>

namespace etbk::runner {

struct FileAnswer {
  std::string document;  // JSON
  int exit_code = 0;
};

FileAnswer inspect_file(const std::string& path, bool hash);

// Judges by a recorded profile. `external`: the program's .ptd, or empty.
FileAnswer check_file(const std::string& path, const std::string& external,
                      const std::string& profile);

}  // namespace etbk::runner
