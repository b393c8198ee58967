// Bytes that are read by offset, each read bounded: a file, or a block of memory.
//
// Files are read with pread and never mapped: a file that shrinks while it is read gives a short
// read, where a mapping would give SIGBUS.
// Licence: BSD-3-Clause.
#pragma once

#include <cstddef>
#include <cstdint>

namespace etbk::host {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;

  // Reads exactly `size` bytes at `offset`, or nothing: false if the source does not have them.
  virtual bool read(std::uint64_t offset, void* buffer, std::size_t size) const = 0;

  // True if `size` bytes at `offset` lie inside the source.
  bool holds(std::uint64_t offset, std::uint64_t size) const {
    return offset <= this->size() && size <= this->size() - offset;
  }
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(const void* data, std::size_t size) : data_(data), size_(size) {}
  std::uint64_t size() const override { return size_; }
  bool read(std::uint64_t offset, void* buffer, std::size_t size) const override;

 private:
  const void* data_;
  std::size_t size_;
};

// Who a file is, whatever path led to it.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity& other) const {
    return device == other.device && inode == other.inode;
  }
};

class FileSource final : public ByteSource {
 public:
  enum class Status { kOpen, kMissing, kUnreadable, kNotAFile };

  // Opens a regular file; anything else (directory, device, pipe) is kNotAFile and not read.
  explicit FileSource(const char* path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Status status() const { return status_; }
  int system_error() const { return system_error_; }  // errno behind kMissing and kUnreadable
  const FileIdentity& identity() const { return identity_; }
  std::uint64_t size() const override { return size_; }
  bool read(std::uint64_t offset, void* buffer, std::size_t size) const override;

 private:
  int descriptor_ = -1;
  Status status_ = Status::kMissing;
  int system_error_ = 0;
  FileIdentity identity_;
  std::uint64_t size_ = 0;
};

}  // namespace etbk::host
