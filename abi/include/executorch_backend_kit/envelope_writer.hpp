// ExecuTorch Backend Kit: writes the compatibility envelope, in C++17. See envelope.h.
//
// Header-only. Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/envelope.h>

#include <cstdint>
#include <string>
#include <vector>

namespace etbk {

struct EnvelopeNamed {
  std::string key;
  uint64_t size = 0;
  uint64_t hash = 0;  // XXH3 of the content
};

struct EnvelopeFields {
  std::string backend_id;
  std::string backend_version;
  std::string package;
  std::string executorch_version;
  std::string torch_version;
  std::string arch = "any";
  std::string features;
  std::string device;
  uint32_t blob_format = 1;
  uint32_t oldest_reader = 1;
  uint32_t payload_alignment = 16;  // a power of two
  std::vector<EnvelopeNamed> named;
};

// The header for a payload with this hash; put it in front of the payload. `hash` has 32 bytes.
inline std::vector<uint8_t> envelope_header(const EnvelopeFields& fields, uint64_t payload_size,
                                            uint32_t hash_kind, const uint8_t* hash) {
  std::vector<uint8_t> out(ETBK_ENVELOPE_FIXED_SIZE, 0);
  const auto put = [&out](size_t at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
      out[at + i] = static_cast<uint8_t>(value >> (8 * i));
    }
  };
  const auto put_text = [&](size_t at, const std::string& text) {
    put(at, out.size(), 4);
    put(at + 4, text.size(), 4);
    out.insert(out.end(), text.begin(), text.end());
  };
  static constexpr uint8_t kMagic[8] = {'E', 'T', 'B', 'K', 'E', 'N', 'V', 0x1a};
  for (size_t i = 0; i < 8; ++i) {
    out[i] = kMagic[i];
  }
  put(8, ETBK_ENVELOPE_MAJOR, 2);
  put(10, ETBK_ENVELOPE_MINOR, 2);
  put(24, payload_size, 8);
  for (size_t i = 0; i < 32; ++i) {
    out[32 + i] = hash[i];
  }
  put(64, hash_kind, 4);
  put(68, fields.payload_alignment, 4);
  put(72, fields.blob_format, 4);
  put(76, fields.oldest_reader, 4);
  put(80, fields.named.size(), 4);
  put(84, out.size(), 4);
  out.resize(out.size() + 24 * fields.named.size(), 0);
  for (size_t i = 0; i < fields.named.size(); ++i) {
    const size_t at = ETBK_ENVELOPE_FIXED_SIZE + 24 * i;
    put_text(at, fields.named[i].key);
    put(at + 8, fields.named[i].size, 8);
    put(at + 16, fields.named[i].hash, 8);
  }
  const std::string* const texts[8] = {&fields.backend_id,    &fields.backend_version,
                                       &fields.package,       &fields.executorch_version,
                                       &fields.torch_version, &fields.arch,
                                       &fields.features,      &fields.device};
  for (size_t i = 0; i < 8; ++i) {
    put_text(88 + 8 * i, *texts[i]);
  }
  const size_t unit = fields.payload_alignment < 16 ? 16 : fields.payload_alignment;
  out.resize((out.size() + unit - 1) / unit * unit, 0);
  put(12, out.size(), 4);
  put(16, etbk_hash_of(out.data(), out.size()), 8);
  return out;
}

// A whole blob: envelope and payload, with the payload's XXH3.
inline std::vector<uint8_t> envelope_blob(const EnvelopeFields& fields, const void* payload,
                                          size_t size) {
  uint8_t hash[32] = {};
  const uint64_t value = etbk_hash_of(payload, size);
  for (size_t i = 0; i < 8; ++i) {
    hash[i] = static_cast<uint8_t>(value >> (8 * i));
  }
  std::vector<uint8_t> blob = envelope_header(fields, size, ETBK_PAYLOAD_HASH_XXH3, hash);
  const auto* const bytes = static_cast<const uint8_t*>(payload);
  blob.insert(blob.end(), bytes, bytes + size);
  return blob;
}

}  // namespace etbk
