// Bytes of a file or of a memory block, read so that nothing another process does to the file can
// harm this one.
//
// Metadata is copied with pread and never looked at in place. Payloads can be mapped: a page that
// vanishes because the file became shorter then reads as zeros (SIGBUS is caught for these
// mappings only, anything else goes to the handler that was there before).
// Licence: BSD-3-Clause.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "findings.hpp"

namespace etbk::pte {

class ByteFile {
 public:
  // Each gives null, with a finding, if there is nothing to read. Opening never blocks.
  static std::unique_ptr<ByteFile> open(const std::string& path, Findings& findings);
  static std::unique_ptr<ByteFile> of_descriptor(int descriptor, Findings& findings);
  static std::unique_ptr<ByteFile> of_memory(const void* data, size_t size);

  ByteFile(const ByteFile&) = delete;
  ByteFile& operator=(const ByteFile&) = delete;
  ~ByteFile();

  uint64_t size() const { return size_; }

  // False if the file does not have these bytes (any more).
  bool read(uint64_t offset, void* destination, size_t size) const;

  // The bytes in place; null if they cannot be mapped. Valid as long as this object.
  const uint8_t* map();
  // True once a mapped page had to be replaced by zeros, or the file has become shorter.
  bool shrank() const;

 private:
  ByteFile() = default;

  int descriptor_ = -1;
  const uint8_t* memory_ = nullptr;
  uint64_t size_ = 0;
  const uint8_t* mapping_ = nullptr;
  size_t guard_ = 0;
  std::atomic<bool> shrank_{false};
};

}  // namespace etbk::pte
