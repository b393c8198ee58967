// Builds the smallest shared library with a plugin note, for any word size and byte order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace etbk::test {

struct ElfPlan {
  bool is_64_bit = true;
  bool little_endian = true;
  std::uint16_t machine = 62;
  std::uint16_t type = 3;  // ET_DYN
  std::uint32_t abi_minor_needed = 9;
  std::string text = "name=tiny\nvendor=Tiny\nversion=0.1.0\nid=TinyBackend\n";
  int notes = 1;
  bool note_in_segment = true;  // otherwise only a section names it
};

class ElfBuilder {
 public:
  explicit ElfBuilder(const ElfPlan& plan) : plan_(plan) {}

  std::string build() {
    const bool wide = plan_.is_64_bit;
    const std::size_t header = wide ? 64 : 52;
    const std::size_t segment = wide ? 56 : 32;
    const std::size_t segments = plan_.note_in_segment ? 3 : 2;
    const std::string notes = make_notes();
    const std::size_t notes_at = header + segments * segment;
    const std::size_t dynamic_at = (notes_at + notes.size() + 7) / 8 * 8;
    const std::size_t dynamic_size = 4 * (wide ? 16 : 8);
    const std::size_t strings_at = dynamic_at + dynamic_size;
    const std::string section_names = std::string("\0.note.etbk\0.names\0", 19);
    const std::size_t sections_at = (strings_at + 32 + section_names.size() + 7) / 8 * 8;

    bytes_ = std::string("\177ELF", 4);
    u8(wide ? 2 : 1), u8(plan_.little_endian ? 1 : 2), u8(1);
    pad_to(16);
    u16(plan_.type), u16(plan_.machine), u32(1);
    word(0), word(header), word(plan_.note_in_segment ? 0 : sections_at);
    u32(0), u16(static_cast<std::uint16_t>(header));
    u16(static_cast<std::uint16_t>(segment)), u16(static_cast<std::uint16_t>(segments));
    u16(wide ? 64 : 40), u16(plan_.note_in_segment ? 0 : 3), u16(plan_.note_in_segment ? 0 : 2);

    const std::size_t total = sections_at + 3 * 64;
    program_header(1, 0, total, 4096);
    program_header(2, dynamic_at, dynamic_size, 8);
    if (plan_.note_in_segment) {
      program_header(4, notes_at, notes.size(), 4);
    }
    bytes_ += notes;
    pad_to(dynamic_at);
    word(5), word(strings_at);
    word(10), word(32);
    word(6), word(strings_at);
    word(0), word(0);
    pad_to(strings_at + 32);
    bytes_ += section_names;
    pad_to(sections_at);
    section(0, 0, 0, 0);
    section(1, 7, notes_at, notes.size());
    section(12, 3, strings_at + 32, section_names.size());
    pad_to(total);
    return bytes_;
  }

 private:
  std::string make_notes() {
    ElfBuilder note(plan_);
    for (int i = 0; i < plan_.notes; ++i) {
      const std::string text = plan_.text + std::string(4 - plan_.text.size() % 4, '\0');
      note.u32(5), note.u32(static_cast<std::uint32_t>(16 + text.size())), note.u32(0x45544201u);
      note.bytes_ += std::string("ETBK\0\0\0\0", 8);
      note.u32(1), note.u32(0), note.u32(plan_.abi_minor_needed), note.u32(plan_.abi_minor_needed);
      note.bytes_ += text;
    }
    return note.bytes_;
  }
  void program_header(std::uint32_t type, std::size_t offset, std::size_t size,
                      std::size_t alignment) {
    u32(type);
    if (plan_.is_64_bit) {
      u32(4);
    }
    word(offset), word(offset), word(offset), word(size), word(size);
    if (!plan_.is_64_bit) {
      u32(4);
    }
    word(alignment);
  }
  void section(std::uint32_t name, std::uint32_t type, std::size_t offset, std::size_t size) {
    u32(name), u32(type), word(0), word(0), word(offset), word(size), u32(0), u32(0), word(4),
        word(0);
  }
  void number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      const int shift = 8 * (plan_.little_endian ? i : size - 1 - i);
      bytes_ += static_cast<char>(value >> shift & 0xff);
    }
  }
  void u8(std::uint8_t value) { number(value, 1); }
  void u16(std::uint16_t value) { number(value, 2); }
  void u32(std::uint32_t value) { number(value, 4); }
  void word(std::uint64_t value) { number(value, plan_.is_64_bit ? 8 : 4); }
  void pad_to(std::size_t size) { bytes_.resize(size, '\0'); }

  ElfPlan plan_;
  std::string bytes_;
};

}  // namespace etbk::test
