// Environment, directories and privilege of this process.
// Licence: BSD-3-Clause.
#include "surroundings.hpp"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <memory>

namespace etbk::host {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string executable_directory() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0) {
    return "";
  }
  const std::string text(path, static_cast<std::size_t>(size));
  return text.substr(0, text.rfind('/'));
}

std::string data_home() {
  std::string named = variable("XDG_DATA_HOME");
  if (!named.empty() && named[0] == '/') {  // a relative one is invalid by its specification
    return named;
  }
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.local/share";
}

}  // namespace

Surroundings Surroundings::of_this_process() {
  Surroundings here;
  here.privileged = ::getauxval(AT_SECURE) != 0;
  const std::string executable = executable_directory();
  if (!executable.empty()) {
    here.standard_directories.push_back(executable + "/executorch_backends");
    here.standard_directories.push_back(executable + "/../lib/executorch_backends");
  }
  if (!here.privileged) {
    here.plugins = variable("ETBK_PLUGINS");
    here.add_plugins = variable("ETBK_ADD_PLUGINS");
    here.select = variable("ETBK_SELECT");
    here.disable = variable("ETBK_DISABLE");
    here.log = variable("ETBK_LOG") == "debug";
    const std::string home = data_home();
    if (!home.empty()) {
      here.standard_directories.push_back(home + "/executorch-backend-kit/plugins");
    }
  }
  here.standard_directories.push_back("/usr/local/lib/executorch_backends");
  here.standard_directories.push_back("/usr/lib/executorch_backends");
  return here;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> items;
  std::size_t at = 0;
  while (at <= text.size()) {
    std::size_t end = text.find(separator, at);
    if (end == std::string::npos) {
      end = text.size();
    }
    if (end != at) {
      items.push_back(text.substr(at, end - at));
    }
    at = end + 1;
  }
  return items;
}

std::string absolute_path(const std::string& path) {
  if (path.empty() || path[0] == '/') {
    return path;
  }
  char here[PATH_MAX];
  return ::getcwd(here, sizeof here) == nullptr ? "./" + path : std::string(here) + "/" + path;
}

std::string resolved_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real == nullptr ? "" : real.get();
}

std::string why_untrusted(const std::string& resolved) {
  // A privileged process may run as the user who started it (setgid, capabilities): then only root
  // is trusted, since that user is who the privilege must be kept from.
  const uid_t trusted = ::geteuid() != ::getuid() ? ::geteuid() : 0;
  std::string part = resolved;
  while (true) {
    struct stat facts;
    if (::stat(part.c_str(), &facts) != 0) {
      return "'" + part + "' cannot be examined";
    }
    if (facts.st_uid != 0 && facts.st_uid != trusted) {
      return "'" + part + "' belongs to user " + std::to_string(facts.st_uid);
    }
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      return "'" + part + "' is writable by its group or by everybody";
    }
    if (part == "/") {
      return "";
    }
    const std::size_t slash = part.rfind('/');
    part = slash == 0 ? "/" : part.substr(0, slash);
  }
}

}  // namespace etbk::host
