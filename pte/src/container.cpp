// Header, size limits and FlatBuffers verification.
// Licence: BSD-3-Clause.
#include "container.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "alignment.hpp"
#include "damage.hpp"

namespace etbk::pte {
namespace {

constexpr size_t kHeadBytes = 64;  // what the runtime reads of a header
constexpr size_t kHeaderOffset = 8;
constexpr uint64_t kLargestFlatBuffer = (uint64_t{1} << 31) - 2;
constexpr uint32_t kMinimumProgramHeader = 24;
constexpr uint32_t kFullProgramHeader = 32;
constexpr uint32_t kMinimumDataHeader = 40;

uint32_t u32(const uint8_t* at) {
  return static_cast<uint32_t>(at[0]) | static_cast<uint32_t>(at[1]) << 8 |
         static_cast<uint32_t>(at[2]) << 16 | static_cast<uint32_t>(at[3]) << 24;
}
uint64_t u64(const uint8_t* at) { return u32(at) | static_cast<uint64_t>(u32(at + 4)) << 32; }

std::string number(uint64_t value) { return std::to_string(value); }

}  // namespace

void Container::Free::operator()(uint8_t* memory) const { std::free(memory); }

std::unique_ptr<Container> Container::open(std::unique_ptr<ByteFile> file, const Limits& limits,
                                           Findings& findings) {
  if (file == nullptr) {
    return nullptr;
  }
  std::unique_ptr<Container> container(new Container);
  container->file_ = std::move(file);
  container->limits_ = limits;
  if (!container->read_header(findings) || !container->read_metadata(findings)) {
    return nullptr;
  }
  return container;
}

bool Container::read_header(Findings& findings) {
  const uint64_t size = file_->size();
  uint8_t head[kHeadBytes] = {};
  const size_t head_size = static_cast<size_t>(std::min<uint64_t>(size, kHeadBytes));
  if (!file_->read(0, head, head_size)) {
    findings.add(5, "file", "its first bytes could not be read");
    return false;
  }
  if (size < kHeadBytes) {
    findings.add(3, "file", number(size) + " bytes; the runtime reads 64 for the header alone");
    return false;
  }
  if (std::memcmp(head + 4, ps::ProgramIdentifier(), 4) == 0) {
    kind_ = Kind::kProgram;
  } else if (std::memcmp(head + 4, ds::FlatTensorIdentifier(), 4) == 0) {
    kind_ = Kind::kData;
  } else {
    findings.add(4, "file[4]",
                 std::memcmp(head + 4, "ET", 2) == 0
                     ? "an ExecuTorch program of another generation than ET12"
                     : "the identifier is neither ET12 nor FT01");
    return false;
  }
  const uint32_t length = u32(head + 12);
  if (kind_ == Kind::kData) {
    if (std::memcmp(head + kHeaderOffset, "FH01", 4) != 0 || length < kMinimumDataHeader) {
      findings.add(801, "header", "magic FH01 and a length of at least 40 are expected");
      return false;
    }
    // The FlatBuffer's data begins behind this header, but its offsets count from the file's start.
    const uint64_t begin = u64(head + 16);
    const uint64_t length_of_rest = u64(head + 24);
    header_ = {true, begin > UINT64_MAX - length_of_rest ? UINT64_MAX : begin + length_of_rest,
               u64(head + 32), u64(head + 40)};
  } else if (std::memcmp(head + kHeaderOffset, "eh00", 4) == 0) {
    if (length < kMinimumProgramHeader) {
      findings.add(10, "header.length", number(length) + " bytes; at least 24 are needed");
      return false;
    }
    header_ = {true, u64(head + 16), u64(head + 24), 0};
    if (length >= kFullProgramHeader) {
      header_.segment_bytes = u64(head + 32);
    }
  } else {
    header_ = {false, size, 0, 0};
  }
  if (header_.program_size > size) {
    findings.add(11, "header.program_size",
                 number(header_.program_size) + " bytes, the file has " + number(size));
    return false;
  }
  if (header_.program_size < kHeadBytes) {
    findings.add(3, "header.program_size", number(header_.program_size) + " bytes");
    return false;
  }
  if (header_.segment_base > size || header_.segment_bytes > size - header_.segment_base) {
    findings.add(12, "header",
                 "segments at " + number(header_.segment_base) + " with " +
                     number(header_.segment_bytes) + " bytes, the file has " + number(size));
    return false;
  }
  if (header_.segment_base != 0 && header_.segment_base < header_.program_size) {
    findings.add(13, "header.segment_base_offset",
                 number(header_.segment_base) + ", the program part ends at " +
                     number(header_.program_size));
    return false;
  }
  return true;
}

bool Container::read_metadata(Findings& findings) {
  const uint64_t limit = std::min<uint64_t>(limits_.program_bytes, kLargestFlatBuffer);
  if (header_.program_size > limit) {
    findings.add(14, "header.program_size",
                 number(header_.program_size) + " bytes, the limit is " + number(limit));
    return false;
  }
  const auto size = static_cast<size_t>(header_.program_size);
  metadata_.reset(static_cast<uint8_t*>(std::aligned_alloc(64, (size + 63) / 64 * 64)));
  if (metadata_ == nullptr) {
    findings.add(14, "header.program_size", "no memory for " + number(size) + " bytes");
    return false;
  }
  if (!file_->read(0, metadata_.get(), size)) {
    findings.add(5, "file", "it had " + number(file_->size()) + " bytes when it was opened");
    return false;
  }
  fb::Verifier verifier(metadata_.get(), size);
  const bool sound = kind_ == Kind::kProgram ? ps::VerifyProgramBuffer(verifier)
                                             : ds::VerifyFlatTensorBuffer(verifier);
  if (!sound) {
    const Damage damage =
        find_damage(metadata_.get(), size,
                    kind_ == Kind::kProgram ? ps::ProgramTypeTable() : ds::FlatTensorTypeTable());
    findings.add(101, damage.place, damage.evidence);
    return false;
  }
  uint32_t version = 0;
  if (kind_ == Kind::kProgram) {
    program_ = ps::GetProgram(metadata_.get());
    version = program_->version();
    const std::string misaligned = misaligned_list(*program_);
    if (!misaligned.empty()) {
      findings.add(101, misaligned, "the 64-bit numbers of the list are not aligned");
      return false;
    }
  } else {
    data_ = ds::GetFlatTensor(metadata_.get());
    version = data_->version();
  }
  const uint32_t newest = kind_ == Kind::kProgram ? kNewestProgramVersion : kNewestDataVersion;
  if (version > newest) {
    findings.add(20, "version",
                 "schema version " + number(version) + "; this reader knows up to " +
                     number(newest) + ", of ExecuTorch " + kSchemaRelease);
    return false;
  }
  return true;
}

Range Container::segment(uint64_t relative, uint64_t size) const {
  const uint64_t total = file_->size();
  if (relative > total || header_.segment_base > total - relative) {
    return {relative, size, false};
  }
  const uint64_t offset = header_.segment_base + relative;
  return {offset, size, size <= total - offset};
}

Range Container::inside(const void* begin, uint64_t size) const {
  const auto offset = static_cast<uint64_t>(static_cast<const uint8_t*>(begin) - metadata_.get());
  return {offset, size, true};
}

}  // namespace etbk::pte
