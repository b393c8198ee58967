// What the blobs of ExecuTorch's own backends say in their first bytes, as of release 1.5.
// Licence: BSD-3-Clause.
#include <algorithm>
#include <cstring>
#include <vector>

#include "blob.hpp"
#include "xnnpack_blob.hpp"

namespace etbk::pte {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes read(const Container& file, const Range& blob, uint64_t offset, uint64_t size) {
  if (!blob.valid || offset > blob.size) {
    return {};
  }
  Bytes bytes(static_cast<size_t>(std::min(size, blob.size - offset)));
  return file.file().read(blob.offset + offset, bytes.data(), bytes.size()) ? bytes : Bytes();
}

bool has(const Bytes& bytes, size_t at, const char* text) {
  const size_t size = std::strlen(text);
  return bytes.size() >= at + size && std::memcmp(bytes.data() + at, text, size) == 0;
}

uint16_t u16(const uint8_t* p) { return static_cast<uint16_t>(p[0] | p[1] << 8); }

// XNNPACK and Vulkan share the layout of their headers.
Json split_header(const Bytes& head, const char* format) {
  return {{"format", format},
          {"header_bytes", u16(head.data() + 8)},
          {"graph",
           {{"offset", etbk_hash_read32(head.data() + 10)},
            {"bytes", etbk_hash_read32(head.data() + 14)}}},
          {"constants",
           {{"offset", etbk_hash_read32(head.data() + 18)},
            {"bytes", etbk_hash_read64(head.data() + 22)}}}};
}

std::string characters(const Bytes& bytes, size_t at, size_t count) {
  std::string text;
  for (size_t i = at; i < at + count && i < bytes.size(); ++i) {
    text += bytes[i] >= ' ' && bytes[i] <= '~' ? static_cast<char>(bytes[i]) : '?';
  }
  return text;
}

}  // namespace

Json stock_header(const Container& file, const Range& blob) {
  const Bytes head = read(file, blob, 0, 64);
  if (head.size() >= 30 && (has(head, 4, "XH00") || has(head, 4, "VH00"))) {
    const bool xnnpack = has(head, 4, "XH00");
    Json result = split_header(head, xnnpack ? "XNNPACK" : "Vulkan");
    const Bytes graph = read(file, blob, etbk_hash_read32(head.data() + 10), 8);
    if (graph.size() == 8) {
      result["graph"]["identifier"] = characters(graph, 4, 4);
    }
    if (xnnpack) {
      result["arguments"] = read_xnnpack_blob(file, blob).arguments;
    }
    return result;
  }
  if (head.size() >= 20 && etbk_hash_read32(head.data()) == 0x5678ABCD) {
    return {{"format", "QNN context"},
            {"signature", etbk_hash_read64(head.data() + 4)},
            {"context_bytes", etbk_hash_read64(head.data() + 12)}};
  }
  if (has(head, 0, "vela_bin_stream")) {
    return {{"format", "Ethos-U command stream (Vela)"}};
  }
  if (has(head, 0, "VGF1")) {
    return {{"format", "VGF"}};
  }
  if (has(head, 4, "TOSA")) {
    return {{"format", "TOSA"}};
  }
  if (has(head, 0, "PK\x03\x04")) {
    return {{"format", "ZIP archive"}};
  }
  return nullptr;
}

}  // namespace etbk::pte
