// Temporary file, full write, rename.
// Licence: BSD-3-Clause.
#include "whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace etbk::host {
namespace {

bool write_all(int descriptor, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) {
      continue;
    }
    if (wrote <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(wrote);
  }
  return true;
}

// mkstemp makes files for their owner alone; a manifest is for everybody the umask allows.
bool open_to_readers(int descriptor) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return ::fchmod(descriptor, 0666 & ~mask) == 0;
}

}  // namespace

std::string write_whole_file(const std::string& path, const std::string& text) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode)) {
    return "it exists and is not a regular file";
  }
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkstemp(&temporary[0]);
  if (descriptor < 0) {
    return std::strerror(errno);
  }
  bool good =
      write_all(descriptor, text) && open_to_readers(descriptor) && ::fsync(descriptor) == 0;
  int system_error = errno;
  if (::close(descriptor) != 0 && good) {
    good = false;
    system_error = errno;
  }
  if (good && ::rename(temporary.c_str(), path.c_str()) == 0) {
    return "";
  }
  if (good) {
    system_error = errno;
  }
  ::unlink(temporary.c_str());
  return std::strerror(system_error);
}

}  // namespace etbk::host
