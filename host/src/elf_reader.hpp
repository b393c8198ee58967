// Reads an ELF shared library of any architecture, word size and byte order, without loading it.
//
// Two questions: what is it built for, and what notes does it carry. Any bytes are answered without
// a crash, and a library that is cut short or whose loading tables point outside it is told apart
// from a whole one, since the dynamic loader itself would crash on it.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "architecture.hpp"
#include "byte_source.hpp"

namespace etbk::host {

struct ElfNote {
  std::string name;
  std::uint32_t type = 0;
  std::vector<std::uint8_t> description;
};

struct ElfReport {
  enum class Status {
    kLibrary,     // a whole shared library
    kNotElf,      // something else; `problem` says what, if it is well known
    kNotLibrary,  // an ELF file, but an object file, a fixed-position program or a core dump
    kDamaged,     // `problem` says what points where
  };
  Status status = Status::kNotElf;
  std::string problem;
  Architecture architecture;   // valid unless kNotElf
  std::vector<ElfNote> notes;  // those named `note_name`; valid for kLibrary
};

// Collects the notes named `note_name`. Where no note segment has one, the section `note_section`
// is tried: a linker may leave it outside the segments.
ElfReport read_elf(const ByteSource& source, const char* note_name, const char* note_section);

}  // namespace etbk::host
