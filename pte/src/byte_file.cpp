// Reading and mapping files, with a guard for those that become shorter.
// Licence: BSD-3-Clause.
#include "byte_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>

namespace etbk::pte {
namespace {

// Mappings the signal handler knows. Slots are claimed under a lock and read without one.
struct Guard {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<std::atomic<bool>*> shrank{nullptr};
};
constexpr size_t kGuards = 256;
Guard guards[kGuards];
std::mutex guards_mutex;
struct sigaction previous_handler;
uintptr_t page_size = 4096;

void on_bus_error(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Guard& guard : guards) {
    const uintptr_t begin = guard.begin.load(std::memory_order_acquire);
    if (begin == 0 || address < begin || address >= guard.end.load(std::memory_order_relaxed)) {
      continue;
    }
    void* const page = reinterpret_cast<void*>(address & ~(page_size - 1));
    if (mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page) {
      break;
    }
    guard.shrank.load(std::memory_order_relaxed)->store(true, std::memory_order_relaxed);
    return;
  }
  if ((previous_handler.sa_flags & SA_SIGINFO) != 0) {
    previous_handler.sa_sigaction(number, info, context);
  } else if (previous_handler.sa_handler != SIG_DFL && previous_handler.sa_handler != SIG_IGN) {
    previous_handler.sa_handler(number);
  } else {
    // The access is repeated after the return, and ends the process as it would have without us;
    // a signal that somebody sent has to be sent once more.
    signal(SIGBUS, SIG_DFL);
    if (info->si_code <= 0) {
      raise(number);
    }
  }
}

bool watch(const uint8_t* begin, size_t size, std::atomic<bool>* shrank, size_t* slot) {
  const std::lock_guard<std::mutex> lock(guards_mutex);
  static const bool kInstalled = [] {
    page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &previous_handler) == 0;
  }();
  if (!kInstalled) {
    return false;
  }
  for (size_t i = 0; i < kGuards; ++i) {
    if (guards[i].begin.load(std::memory_order_relaxed) == 0) {
      guards[i].shrank.store(shrank, std::memory_order_relaxed);
      guards[i].end.store(reinterpret_cast<uintptr_t>(begin) + size, std::memory_order_relaxed);
      guards[i].begin.store(reinterpret_cast<uintptr_t>(begin), std::memory_order_release);
      *slot = i;
      return true;
    }
  }
  return false;
}

void unwatch(size_t slot) {
  const std::lock_guard<std::mutex> lock(guards_mutex);
  guards[slot].begin.store(0, std::memory_order_release);
}

}  // namespace

std::unique_ptr<ByteFile> ByteFile::open(const std::string& path, Findings& findings) {
  // O_NONBLOCK: a FIFO must not keep us waiting for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    findings.add(1, "file", std::strerror(errno));
    return nullptr;
  }
  auto file = of_descriptor(descriptor, findings);
  ::close(descriptor);
  return file;
}

std::unique_ptr<ByteFile> ByteFile::of_descriptor(int descriptor, Findings& findings) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) {
    findings.add(1, "file", std::strerror(errno));
    return nullptr;
  }
  if (!S_ISREG(status.st_mode)) {
    findings.add(2, "file",
                 S_ISDIR(status.st_mode)    ? "a directory"
                 : S_ISFIFO(status.st_mode) ? "a pipe"
                                            : "a device or socket");
    return nullptr;
  }
  const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) {
    findings.add(1, "file", std::strerror(errno));
    return nullptr;
  }
  std::unique_ptr<ByteFile> file(new ByteFile);
  file->descriptor_ = own;
  file->size_ = static_cast<uint64_t>(status.st_size);
  return file;
}

std::unique_ptr<ByteFile> ByteFile::of_memory(const void* data, size_t size) {
  std::unique_ptr<ByteFile> file(new ByteFile);
  file->memory_ = static_cast<const uint8_t*>(data);
  file->size_ = size;
  return file;
}

ByteFile::~ByteFile() {
  if (mapping_ != nullptr) {
    unwatch(guard_);
    munmap(const_cast<uint8_t*>(mapping_), static_cast<size_t>(size_));
  }
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

bool ByteFile::read(uint64_t offset, void* destination, size_t size) const {
  if (offset > size_ || size > size_ - offset) {
    return false;
  }
  if (memory_ != nullptr || size == 0) {
    if (size > 0) {
      std::memcpy(destination, memory_ + offset, size);
    }
    return true;
  }
  auto* to = static_cast<uint8_t*>(destination);
  while (size > 0) {
    const ssize_t got = pread(descriptor_, to, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    to += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool ByteFile::shrank() const {
  struct stat status {};
  return shrank_.load(std::memory_order_relaxed) ||
         (descriptor_ >= 0 && fstat(descriptor_, &status) == 0 &&
          static_cast<uint64_t>(status.st_size) < size_);
}

const uint8_t* ByteFile::map() {
  if (memory_ != nullptr || mapping_ != nullptr || size_ == 0) {
    return memory_ != nullptr ? memory_ : mapping_;
  }
  void* const address =
      mmap(nullptr, static_cast<size_t>(size_), PROT_READ, MAP_SHARED, descriptor_, 0);
  if (address == MAP_FAILED) {
    return nullptr;
  }
  if (!watch(static_cast<uint8_t*>(address), static_cast<size_t>(size_), &shrank_, &guard_)) {
    munmap(address, static_cast<size_t>(size_));
    return nullptr;
  }
  mapping_ = static_cast<const uint8_t*>(address);
  return mapping_;
}

}  // namespace etbk::pte
