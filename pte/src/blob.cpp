// Envelopes and hashes of blobs.
// Licence: BSD-3-Clause.
#include "blob.hpp"

#include <algorithm>

#include "fast_hash.hpp"
#include "sha256.hpp"

namespace etbk::pte {
namespace {

constexpr size_t kLargestEnvelope = size_t{1} << 20;
constexpr size_t kHashStep = size_t{16} << 20;

std::string hexadecimal(const uint8_t* bytes, size_t size) {
  static const char* const kDigits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string hexadecimal(uint64_t value) {
  uint8_t bytes[8];
  for (size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<uint8_t>(value >> (56 - 8 * i));
  }
  return hexadecimal(bytes, 8);
}

// Hands the range over piece by piece, in place; false if the file has become shorter.
template <typename Take>
bool in_pieces(const Container& file, const Range& range, Take take) {
  if (!range.valid) {
    return false;
  }
  const uint8_t* const data = range.size == 0 ? nullptr : file.file().map();
  if (range.size != 0 && data == nullptr) {
    return false;
  }
  for (uint64_t done = 0; done < range.size; done += kHashStep) {
    take(data + range.offset + done,
         static_cast<size_t>(std::min<uint64_t>(kHashStep, range.size - done)));
  }
  return !file.file().shrank();
}

}  // namespace

Range blob_range(const Container& file, const ps::BackendDelegate& delegate) {
  const auto* const where = delegate.processed();
  const ps::Program& program = *file.program();
  if (where == nullptr) {
    return {};
  }
  if (where->location() == ps::DataLocation::SEGMENT) {
    if (program.segments() == nullptr || where->index() >= program.segments()->size()) {
      return {};
    }
    const ps::DataSegment& segment = *program.segments()->Get(where->index());
    return file.segment(segment.offset(), segment.size());
  }
  const auto* const blobs = program.backend_delegate_data();
  if (blobs == nullptr || where->index() >= blobs->size() ||
      blobs->Get(where->index())->data() == nullptr) {
    return {};
  }
  const auto* const data = blobs->Get(where->index())->data();
  return file.inside(data->data(), data->size());
}

BlobEnvelope::BlobEnvelope(const Container& file, const Range& blob) {
  if (!blob.valid) {
    return;
  }
  head_.resize(static_cast<size_t>(std::min<uint64_t>(blob.size, ETBK_ENVELOPE_FIXED_SIZE)));
  if (!file.file().read(blob.offset, head_.data(), head_.size()) ||
      etbk_envelope_is_there(head_.data(), head_.size()) == 0) {
    head_.clear();
    return;
  }
  if (head_.size() >= 16) {
    const uint64_t wanted = etbk_hash_read32(head_.data() + 12);
    head_.resize(static_cast<size_t>(std::min<uint64_t>(
        {std::max<uint64_t>(wanted, head_.size()), blob.size, kLargestEnvelope})));
    if (!file.file().read(blob.offset, head_.data(), head_.size())) {
      head_.clear();
      return;
    }
  }
  result_ = etbk_envelope_read(head_.data(), head_.size(), blob.size, &envelope_);
}

std::string text_of(EtbkEnvelopeText text) { return {text.data, text.size}; }

Json BlobEnvelope::json() const {
  if (result_ == ETBK_ENVELOPE_ABSENT) {
    return nullptr;
  }
  if (result_ != ETBK_ENVELOPE_OK) {
    return {{"sound", false}, {"problem", etbk_envelope_result_text(result_)}};
  }
  const EtbkEnvelope& e = envelope_;
  const bool sha = e.hash_kind == ETBK_PAYLOAD_HASH_SHA256;
  Json named = Json::array();
  for (uint32_t i = 0; i < std::min<uint32_t>(e.named_count, 10000); ++i) {
    const EtbkEnvelopeNamed entry = etbk_envelope_named(head_.data(), &e, i);
    named.push_back(
        {{"key", text_of(entry.key)}, {"bytes", entry.size}, {"hash", hexadecimal(entry.hash)}});
  }
  Json result = {
      {"sound", true},
      {"version", std::to_string(e.major) + "." + std::to_string(e.minor)},
      {"backend_id", text_of(e.backend_id)},
      {"backend_version", text_of(e.backend_version)},
      {"package", text_of(e.package)},
      {"executorch", text_of(e.executorch_version)},
      {"torch", text_of(e.torch_version)},
      {"blob_format", e.blob_format},
      {"oldest_reader", e.oldest_reader},
      {"target",
       {{"arch", text_of(e.arch)},
        {"features", text_of(e.features)},
        {"device", text_of(e.device)}}},
      {"payload",
       {{"offset", e.header_size},
        {"bytes", e.payload_size},
        {"alignment", e.payload_alignment},
        {"hash_kind", e.hash_kind == ETBK_PAYLOAD_HASH_XXH3 ? "xxh3"
                      : sha                                 ? "sha256"
                                                            : "none"},
        {"hash", e.hash_kind == ETBK_PAYLOAD_HASH_XXH3 ? hexadecimal(etbk_hash_read64(e.hash))
                 : sha                                 ? hexadecimal(e.hash, 32)
                                                       : ""}}},
      {"named_data", std::move(named)}};
  return result;
}

std::string xxh3_of(const Container& file, const Range& range) {
  FastHash hash;
  const bool whole =
      in_pieces(file, range, [&](const uint8_t* data, size_t size) { hash.add(data, size); });
  return whole ? hexadecimal(hash.end()) : "";
}

std::string sha256_of(const Container& file, const Range& range) {
  Sha256 hash;
  const bool whole =
      in_pieces(file, range, [&](const uint8_t* data, size_t size) { hash.add(data, size); });
  return whole ? hexadecimal(hash.end().data(), 32) : "";
}

}  // namespace etbk::pte
