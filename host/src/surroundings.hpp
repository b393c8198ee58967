// What the process brings to discovery: environment variables, directories, privilege.
//
// Read once per call, so that discovery itself is a function of its arguments.
// Licence: BSD-3-Clause.
#pragma once

#include <string>
#include <vector>

namespace etbk::host {

struct Surroundings {
  bool privileged = false;  // setuid, setgid or file capabilities: variables are empty then
  std::string plugins;      // ETBK_PLUGINS; an empty variable counts as unset
  std::string add_plugins;  // ETBK_ADD_PLUGINS
  std::string select;       // ETBK_SELECT
  std::string disable;      // ETBK_DISABLE
  bool log = false;         // ETBK_LOG=debug
  std::vector<std::string> standard_directories;  // of manifests, in order of search

  static Surroundings of_this_process();
};

// "a:b::c" at ':' gives a, b, c: empty items are dropped.
std::vector<std::string> split(const std::string& text, char separator);

// `path` made absolute against the working directory; a path the dynamic loader takes as a path.
std::string absolute_path(const std::string& path);

// `path` without symbolic links; empty if there is no such file.
std::string resolved_path(const std::string& path);

// Why others than root and this process's own user can change the file, or put another in
// its place; `resolved` is a resolved path. Empty if they cannot.
std::string why_untrusted(const std::string& resolved);

}  // namespace etbk::host
