// A .pte or .ptd file opened and structurally verified: header, FlatBuffer, segments.
//
// After `open` gave a container, every offset, string and vector of its FlatBuffer lies inside the
// private copy of the metadata. What the numbers mean is the business of the semantic rules.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "byte_file.hpp"
#include "findings.hpp"
#include "schema.hpp"

namespace etbk::pte {

// What reading a file may cost at most; a hostile file ends at these with a finding.
struct Limits {
  uint64_t program_bytes = uint64_t{256} << 20;  // memory: one copy of the program part
  uint64_t work = uint64_t{256} << 20;           // time: list elements looked at
  uint64_t planned_bytes = uint64_t{8} << 30;    // what a program may ask the runtime for
};

// Counts looked-at elements; false once the limit is reached.
class Work {
 public:
  explicit Work(uint64_t limit) : left_(limit) {}
  bool spend(uint64_t amount) {
    left_ = amount > left_ ? 0 : left_ - amount;
    return left_ != 0;
  }
  bool exhausted() const { return left_ == 0; }

 private:
  uint64_t left_;
};

struct Header {
  bool present = false;
  uint64_t program_size = 0;
  uint64_t segment_base = 0;
  uint64_t segment_bytes = 0;
};

// Part of the file; `valid` if it lies inside.
struct Range {
  uint64_t offset = 0;
  uint64_t size = 0;
  bool valid = false;
};

class Container {
 public:
  enum class Kind { kProgram, kData };

  static std::unique_ptr<Container> open(std::unique_ptr<ByteFile> file, const Limits& limits,
                                         Findings& findings);

  Kind kind() const { return kind_; }
  const Header& header() const { return header_; }
  ByteFile& file() const { return *file_; }
  const Limits& limits() const { return limits_; }

  // One of the two is there, by kind.
  const ps::Program* program() const { return program_; }
  const ds::FlatTensor* data() const { return data_; }

  // Where a segment lies in the file; `relative` and `size` are those of the schema.
  Range segment(uint64_t relative, uint64_t size) const;
  // Where bytes of the metadata lie in the file.
  Range inside(const void* begin, uint64_t size) const;

 private:
  Container() = default;
  bool read_header(Findings& findings);
  bool read_metadata(Findings& findings);

  struct Free {
    void operator()(uint8_t* memory) const;
  };

  std::unique_ptr<ByteFile> file_;
  Limits limits_;
  Kind kind_ = Kind::kProgram;
  Header header_;
  std::unique_ptr<uint8_t, Free> metadata_;
  const ps::Program* program_ = nullptr;
  const ds::FlatTensor* data_ = nullptr;
};

}  // namespace etbk::pte
