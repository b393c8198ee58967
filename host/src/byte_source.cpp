// Bounded reads from memory and from files.
// Licence: BSD-3-Clause.
#include "byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace etbk::host {

bool MemorySource::read(std::uint64_t offset, void* buffer, std::size_t size) const {
  if (!holds(offset, size)) {
    return false;
  }
  if (size != 0) {
    std::memcpy(buffer, static_cast<const char*>(data_) + offset, size);
  }
  return true;
}

FileSource::FileSource(const char* path) {
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  descriptor_ = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    system_error_ = errno;
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    status_ = missing ? Status::kMissing : Status::kUnreadable;
    return;
  }
  struct stat facts;
  if (::fstat(descriptor_, &facts) != 0) {
    system_error_ = errno;
    status_ = Status::kUnreadable;
    return;
  }
  identity_.device = static_cast<std::uint64_t>(facts.st_dev);
  identity_.inode = static_cast<std::uint64_t>(facts.st_ino);
  if (!S_ISREG(facts.st_mode)) {
    status_ = Status::kNotAFile;
    return;
  }
  size_ = static_cast<std::uint64_t>(facts.st_size);
  status_ = Status::kOpen;
}

FileSource::~FileSource() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

bool FileSource::read(std::uint64_t offset, void* buffer, std::size_t size) const {
  if (status_ != Status::kOpen || !holds(offset, size)) {
    return false;
  }
  auto* to = static_cast<char*>(buffer);
  while (size != 0) {
    const ssize_t got = ::pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    to += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace etbk::host
