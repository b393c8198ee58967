// The ELF format, as far as the host needs it.
// Licence: BSD-3-Clause.
#include "elf_reader.hpp"

#include <cstring>

namespace etbk::host {
namespace {

constexpr std::uint16_t kTypeShared = 3;              // ET_DYN
constexpr std::uint32_t kSegmentLoad = 1;             // PT_LOAD
constexpr std::uint32_t kSegmentDynamic = 2;          // PT_DYNAMIC
constexpr std::uint32_t kSegmentNote = 4;             // PT_NOTE
constexpr std::uint32_t kSectionNoBits = 8;           // SHT_NOBITS
constexpr std::uint64_t kMaxNoteBytes = 1u << 20;     // of one segment or section
constexpr std::uint64_t kMaxDynamicBytes = 1u << 20;  // of the dynamic table

struct Segment {
  std::uint32_t type;
  std::uint64_t offset;
  std::uint64_t address;
  std::uint64_t file_size;
  std::uint64_t memory_size;
  std::uint64_t alignment;
};

std::string number(std::uint64_t value) { return std::to_string(value); }

// A block of bytes with fields read by offset, in the file's byte order.
class Fields {
 public:
  Fields(const std::uint8_t* data, bool little_endian)
      : data_(data), little_endian_(little_endian) {}
  std::uint16_t u16(std::size_t offset) const {
    return static_cast<std::uint16_t>(read(offset, 2));
  }
  std::uint32_t u32(std::size_t offset) const {
    return static_cast<std::uint32_t>(read(offset, 4));
  }
  std::uint64_t u64(std::size_t offset) const { return read(offset, 8); }
  std::uint64_t word(std::size_t offset, bool is_64_bit) const {
    return read(offset, is_64_bit ? 8 : 4);
  }

 private:
  std::uint64_t read(std::size_t offset, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = little_endian_ ? size - 1 - i : i;
      value = value << 8 | data_[offset + at];
    }
    return value;
  }
  const std::uint8_t* data_;
  bool little_endian_;
};

class Reader {
 public:
  Reader(const ByteSource& source, const char* note_name, const char* note_section)
      : source_(source), note_name_(note_name), note_section_(note_section) {}

  ElfReport run() {
    if (read_identity() && read_segments() && check_sections_inside() && check_dynamic() &&
        read_notes()) {
      report_.status = ElfReport::Status::kLibrary;
    }
    return std::move(report_);
  }

 private:
  bool fail(ElfReport::Status status, std::string problem) {
    report_.status = status;
    report_.problem = std::move(problem);
    return false;
  }
  bool damaged(std::string problem) {
    return fail(ElfReport::Status::kDamaged, std::move(problem));
  }
  bool is_64() const { return report_.architecture.is_64_bit; }
  bool little() const { return report_.architecture.little_endian; }

  bool read_identity() {
    std::uint8_t head[64] = {};
    const std::size_t have =
        source_.size() < sizeof head ? static_cast<std::size_t>(source_.size()) : sizeof head;
    if (have == 0) {
      return fail(ElfReport::Status::kNotElf, "the file is empty");
    }
    if (!source_.read(0, head, have)) {
      return damaged("the first bytes cannot be read");
    }
    if (have < 4 || std::memcmp(head, "\177ELF", 4) != 0) {
      return fail(ElfReport::Status::kNotElf, std::string("the file is ") + kind_of(head, have));
    }
    if (have < 52) {
      return damaged("the ELF header needs at least 52 bytes, the file has " + number(have));
    }
    if ((head[4] != 1 && head[4] != 2) || (head[5] != 1 && head[5] != 2) || head[6] != 1) {
      return damaged("the ELF header has an unknown class, byte order or version");
    }
    report_.architecture.is_64_bit = head[4] == 2;
    report_.architecture.little_endian = head[5] == 1;
    if (is_64() && have < 64) {
      return damaged("a 64-bit ELF header needs 64 bytes, the file has " + number(have));
    }
    const Fields fields(head, little());
    report_.architecture.machine = fields.u16(18);
    segment_table_ = fields.word(is_64() ? 32 : 28, is_64());
    section_table_ = fields.word(is_64() ? 40 : 32, is_64());
    const std::size_t counts = is_64() ? 54 : 42;
    segment_entry_ = fields.u16(counts);
    segment_count_ = fields.u16(counts + 2);
    section_entry_ = fields.u16(counts + 4);
    section_count_ = fields.u16(counts + 6);
    section_names_ = fields.u16(counts + 8);
    const std::uint16_t type = fields.u16(16);
    if (type != kTypeShared) {
      return fail(ElfReport::Status::kNotLibrary, type_text(type));
    }
    return true;
  }

  // What the file is, by its first bytes. They are not repeated: a path may lead to any file.
  static const char* kind_of(const std::uint8_t* head, std::size_t size) {
    static const struct {
      const char* begin;
      const char* kind;
    } kKinds[] = {{"#!", "a script"},
                  {"!<arch>", "a static library"},
                  {"!<thin>", "a static library"},
                  {"PK\3\4", "an archive (ZIP, wheel or AAR)"},
                  {"MZ", "a Windows file"},
                  {"\xcf\xfa\xed\xfe", "a file of macOS or iOS"},
                  {"\xca\xfe\xba\xbe", "a file of macOS or iOS"},
                  {"version https://git-lfs", "a pointer of Git LFS, not the file itself"},
                  {"{", "JSON"}};
    for (const auto& row : kKinds) {
      const std::size_t length = std::strlen(row.begin);
      if (size >= length && std::memcmp(head, row.begin, length) == 0) {
        return row.kind;
      }
    }
    return "something else than an ELF file";
  }

  static std::string type_text(std::uint16_t type) {
    switch (type) {
      case 1:
        return "the file is an object file (.o)";
      case 2:
        return "the file is a program";
      case 4:
        return "the file is a core dump";
      default:
        return "the file is of the unknown ELF type " + number(type);
    }
  }

  bool read_segments() {
    const std::size_t need = is_64() ? 56 : 32;
    if (segment_count_ == 0 || segment_entry_ != need) {
      return damaged("the ELF header names no usable table of segments");
    }
    const std::uint64_t bytes = std::uint64_t{segment_count_} * need;
    if (!source_.holds(segment_table_, bytes)) {
      return damaged("the table of segments lies at byte " + number(segment_table_) + " of " +
                     number(source_.size()));
    }
    std::vector<std::uint8_t> table(static_cast<std::size_t>(bytes));
    if (!source_.read(segment_table_, table.data(), table.size())) {
      return damaged("the table of segments cannot be read");
    }
    for (std::size_t i = 0; i < segment_count_; ++i) {
      const Fields fields(table.data() + i * need, little());
      Segment segment;
      segment.type = fields.u32(0);
      segment.offset = fields.word(is_64() ? 8 : 4, is_64());
      segment.address = fields.word(is_64() ? 16 : 8, is_64());
      segment.file_size = fields.word(is_64() ? 32 : 16, is_64());
      segment.memory_size = fields.word(is_64() ? 40 : 20, is_64());
      segment.alignment = fields.word(is_64() ? 48 : 28, is_64());
      if (!check_segment(segment)) {
        return false;
      }
      segments_.push_back(segment);
    }
    return true;
  }

  bool check_segment(const Segment& segment) {
    if (segment.type != kSegmentLoad && segment.type != kSegmentDynamic &&
        segment.type != kSegmentNote) {
      return true;
    }
    if (!source_.holds(segment.offset, segment.file_size)) {
      return damaged("a segment needs " + number(segment.file_size) + " bytes at byte " +
                     number(segment.offset) + ", the file has " + number(source_.size()) +
                     " bytes in all");
    }
    if (segment.type == kSegmentLoad && (segment.memory_size < segment.file_size ||
                                         segment.address + segment.memory_size < segment.address)) {
      return damaged("a segment has an impossible size in memory");
    }
    return true;
  }

  // The table of sections is not needed for loading, but it is the last thing in a file: where it
  // is named and not there, the file was cut short.
  bool check_sections_inside() {
    if (section_table_ == 0 || section_count_ == 0) {
      section_count_ = 0;
      return true;
    }
    const std::uint64_t bytes = std::uint64_t{section_count_} * section_entry_;
    if (section_entry_ != (is_64() ? 64 : 40) || !source_.holds(section_table_, bytes)) {
      return damaged("the table of sections needs " + number(bytes) + " bytes at byte " +
                     number(section_table_) + ", the file has " + number(source_.size()) +
                     " bytes in all");
    }
    return true;
  }

  // True if `size` bytes at `address` are in memory once the library is loaded.
  bool is_loaded(std::uint64_t address, std::uint64_t size) const {
    for (const Segment& segment : segments_) {
      if (segment.type == kSegmentLoad && address >= segment.address &&
          address - segment.address <= segment.memory_size &&
          size <= segment.memory_size - (address - segment.address)) {
        return true;
      }
    }
    return false;
  }

  // The dynamic loader trusts this table blindly, also when it is all zeros.
  bool check_dynamic() {
    const Segment* dynamic = nullptr;
    for (const Segment& segment : segments_) {
      if (segment.type == kSegmentDynamic) {
        dynamic = &segment;
      }
    }
    if (dynamic == nullptr) {
      return fail(ElfReport::Status::kNotLibrary, "the file has no dynamic section");
    }
    if (dynamic->file_size > kMaxDynamicBytes || !is_loaded(dynamic->address, dynamic->file_size)) {
      return damaged("the dynamic section is not part of what is loaded");
    }
    std::vector<std::uint8_t> table(static_cast<std::size_t>(dynamic->file_size));
    if (!source_.read(dynamic->offset, table.data(), table.size())) {
      return damaged("the dynamic section cannot be read");
    }
    std::uint64_t values[kDynamicTags] = {};
    bool present[kDynamicTags] = {};
    bool ended = false;
    const std::size_t entry = is_64() ? 16 : 8;
    for (std::size_t at = 0; at + entry <= table.size() && !ended; at += entry) {
      const Fields fields(table.data() + at, little());
      const std::uint64_t tag = fields.word(0, is_64());
      ended = tag == 0;
      if (tag < kDynamicTags) {
        values[tag] = fields.word(entry / 2, is_64());
        present[tag] = true;
      }
    }
    // {address, size or 0}: tags of the table, as in the ELF specification.
    constexpr std::size_t kBlocks[][2] = {
        {5, 10} /* STRTAB, STRSZ */,
        {6, 0} /* SYMTAB */,
        {4, 0} /* HASH */,
        {7, 8} /* RELA, RELASZ */,
        {17, 18} /* REL, RELSZ */,
        {23, 2} /* JMPREL, PLTRELSZ */,
        {25, 27} /* INIT_ARRAY, INIT_ARRAYSZ */,
        {26, 28} /* FINI_ARRAY, ..SZ */,
        {12, 0} /* INIT */,
        {13, 0} /* FINI */,
    };
    if (!ended || !present[5] || !present[6] || !present[10]) {
      return damaged("the dynamic section lacks its end, its symbols or its strings");
    }
    for (const auto& block : kBlocks) {
      const std::uint64_t size = block[1] != 0 && present[block[1]] ? values[block[1]] : 1;
      if (present[block[0]] && !is_loaded(values[block[0]], size)) {
        return damaged("entry " + number(block[0]) +
                       " of the dynamic section points outside what is loaded");
      }
    }
    return true;
  }

  bool read_notes() {
    for (const Segment& segment : segments_) {
      if (segment.type == kSegmentNote &&
          !read_note_block(segment.offset, segment.file_size, segment.alignment)) {
        return false;
      }
    }
    return !report_.notes.empty() || section_count_ == 0 || read_note_section();
  }

  // A linker may leave a note outside every note segment; then its section still names it.
  bool read_note_section() {
    std::vector<std::uint8_t> table(std::size_t{section_count_} * section_entry_);
    if (!source_.read(section_table_, table.data(), table.size())) {
      return damaged("the table of sections cannot be read");
    }
    if (section_names_ >= section_count_) {
      return true;
    }
    const auto section = [&](std::size_t index) {
      return Fields(table.data() + index * section_entry_, little());
    };
    const std::size_t offset_at = is_64() ? 24 : 16;
    const std::size_t size_at = is_64() ? 32 : 20;
    const std::uint64_t names = section(section_names_).word(offset_at, is_64());
    const std::uint64_t names_size = section(section_names_).word(size_at, is_64());
    const std::string wanted = note_section_;
    for (std::size_t i = 0; i < section_count_; ++i) {
      const Fields fields = section(i);
      const std::uint64_t name = fields.u32(0);
      std::string text(wanted.size() + 1, ' ');
      if (fields.u32(4) == kSectionNoBits || name > names_size || text.size() > names_size - name ||
          !source_.holds(names, names_size) || !source_.read(names + name, &text[0], text.size()) ||
          text.compare(0, wanted.size(), wanted) != 0 || text.back() != '\0') {
        continue;
      }
      if (!read_note_block(fields.word(offset_at, is_64()), fields.word(size_at, is_64()), 4)) {
        return false;
      }
    }
    return true;
  }

  bool read_note_block(std::uint64_t offset, std::uint64_t size, std::uint64_t alignment) {
    if (size > kMaxNoteBytes || !source_.holds(offset, size)) {
      return damaged("a block of notes has " + number(size) + " bytes");
    }
    std::vector<std::uint8_t> block(static_cast<std::size_t>(size));
    if (!source_.read(offset, block.data(), block.size())) {
      return damaged("a block of notes cannot be read");
    }
    const std::size_t unit = alignment == 8 ? 8 : 4;
    const auto padded = [unit](std::size_t length) { return (length + unit - 1) / unit * unit; };
    std::size_t at = 0;
    while (block.size() - at >= 12) {
      const Fields fields(block.data() + at, little());
      const std::size_t name_size = fields.u32(0);
      const std::size_t text_size = fields.u32(4);
      const std::size_t name_at = at + 12;
      if (name_size > block.size() - name_at ||
          padded(12 + name_size) - 12 > block.size() - name_at) {
        return damaged("a note's name leaves its block");
      }
      const std::size_t text_at = at + padded(12 + name_size);
      if (text_size > block.size() - text_at) {
        return damaged("a note's text leaves its block");
      }
      const auto* name = reinterpret_cast<const char*>(block.data()) + name_at;
      const std::size_t wanted = std::strlen(note_name_);
      if (name_size == wanted + 1 && std::memcmp(name, note_name_, wanted + 1) == 0) {
        ElfNote note;
        note.name = note_name_;
        note.type = fields.u32(8);
        note.description.assign(block.begin() + static_cast<std::ptrdiff_t>(text_at),
                                block.begin() + static_cast<std::ptrdiff_t>(text_at + text_size));
        report_.notes.push_back(std::move(note));
      }
      if (padded(text_size) >= block.size() - text_at) {
        return true;
      }
      at = text_at + padded(text_size);
    }
    return true;
  }

  static constexpr std::size_t kDynamicTags = 32;
  const ByteSource& source_;
  const char* note_name_;
  const char* note_section_;
  ElfReport report_;
  std::uint64_t segment_table_ = 0;
  std::uint64_t section_table_ = 0;
  std::uint16_t segment_entry_ = 0;
  std::uint16_t segment_count_ = 0;
  std::uint16_t section_entry_ = 0;
  std::uint16_t section_count_ = 0;
  std::uint16_t section_names_ = 0;
  std::vector<Segment> segments_;
};

}  // namespace

ElfReport read_elf(const ByteSource& source, const char* note_name, const char* note_section) {
  return Reader(source, note_name, note_section).run();
}

}  // namespace etbk::host
