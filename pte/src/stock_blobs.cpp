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

uint32_t u32(const Bytes& bytes, size_t at) {
  return at + 4 <= bytes.size() ? etbk_hash_read32(bytes.data() + at) : 0;
}

std::string characters(const Bytes& bytes, size_t at, size_t count) {
  std::string text;
  for (size_t i = at; i < at + count && i < bytes.size(); ++i) {
    text += bytes[i] >= ' ' && bytes[i] <= '~' ? static_cast<char>(bytes[i]) : '?';
  }
  return text;
}

// The command stream of Ethos-U begins with what it was compiled for: "COP1", an action, then the
// processor's configuration and id registers.
Json ethos_u_target(const Bytes& commands) {
  constexpr uint8_t kOptimizerConfig = 1;
  if (commands.size() < 16 || !has(commands, 0, "COP1") || commands[4] != kOptimizerConfig) {
    return nullptr;
  }
  const uint32_t configuration = u32(commands, 8);
  const uint32_t id = u32(commands, 12);
  return {{"macs_per_cycle", 1u << (configuration & 15)},
          {"architecture", std::to_string(id >> 28) + "." + std::to_string(id >> 20 & 255) + "." +
                               std::to_string(id >> 16 & 15)}};
}

// Vela's stream: blocks of a name, a size and content, each filled up to 16 bytes.
Json vela_stream(const Container& file, const Range& blob) {
  constexpr size_t kHead = 32;
  constexpr int kMostBlocks = 64;
  Json result = {{"format", "Ethos-U command stream (Vela)"}, {"target", nullptr}};
  Json blocks = Json::array();
  uint64_t at = 0;
  for (int i = 0; i < kMostBlocks; ++i) {
    const Bytes head = read(file, blob, at, kHead);
    if (head.size() < kHead) {
      break;
    }
    std::string name = characters(head, 0, 16);
    name.resize(std::min(name.find('?'), name.size()));
    const uint64_t size = u32(head, 16);
    if (name == "vela_end_stream" || size > blob.size - at - kHead) {
      break;
    }
    if (name == "cmd_data") {
      result["target"] = ethos_u_target(read(file, blob, at + kHead, 16));
    }
    if (size > 0) {
      blocks.push_back({{"name", name}, {"bytes", size}, {"external", head[20] == 1}});
    }
    at += kHead + (size + 15) / 16 * 16;
  }
  result["blocks"] = std::move(blocks);
  return result;
}

// The JSON object that a text begins with; empty if it does not end in it.
std::string leading_object(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == '{') {
      ++depth;
    } else if (!quoted && c == '}' && --depth == 0) {
      return text.substr(0, i + 1);
    }
  }
  return "";
}

// Core ML's blob is a folder put into one buffer; its table of contents is JSON at the end, written
// backwards. Null if the blob does not end so.
Json core_ml_folder(const Container& file, const Range& blob) {
  constexpr uint64_t kMost = 65536;
  constexpr size_t kMostFiles = 100;
  const uint64_t size = std::min(blob.size, kMost);
  const Bytes end = read(file, blob, blob.size - size, size);
  const std::string text(end.rbegin(), end.rend());
  if (text.rfind("{\"nodes\":[", 0) != 0) {
    return nullptr;
  }
  Json result = {{"format", "Core ML model folder"}, {"files", Json::array()}};
  const Json contents = Json::parse(leading_object(text), nullptr, false);
  if (!contents.is_object()) {
    return result;
  }
  for (const Json& node : contents["nodes"]) {
    const auto region = node.is_object() ? node.find("dataRegion") : node.end();
    if (node.is_object() && node.contains("name") && region != node.end() && region->is_object() &&
        region->contains("size") && (*region)["size"] != 0 && result["files"].size() < kMostFiles) {
      result["files"].push_back({{"name", node["name"]}, {"bytes", (*region)["size"]}});
    }
  }
  return result;
}

// OpenVINO's model for the processor: places and sizes of three parts, the first of them XML. It
// tells no version; the model itself is enciphered.
Json openvino_model(const Container& file, const Range& blob) {
  constexpr uint64_t kHead = 48;
  const Bytes head = read(file, blob, 0, kHead + 5);
  if (!has(head, kHead, "<?xml") || etbk_hash_read64(head.data()) != kHead) {
    return nullptr;
  }
  return {{"format", "OpenVINO model for the processor"},
          {"constants", {{"bytes", etbk_hash_read64(head.data() + 24)}}},
          {"model", {{"bytes", etbk_hash_read64(head.data() + 40)}}}};
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
    return vela_stream(file, blob);
  }
  if (has(head, 0, "VGF1") && head.size() >= 11) {
    return {{"format", "VGF"},
            {"version", std::to_string(head[8]) + "." + std::to_string(head[9]) + "." +
                            std::to_string(head[10])}};
  }
  if (has(head, 0, "CMJR")) {
    return {{"format", "Core ML model in named data"}};
  }
  if (Json model = openvino_model(file, blob); !model.is_null()) {
    return model;
  }
  if (has(head, 4, "TOSA")) {
    return {{"format", "TOSA"}};
  }
  if (has(head, 0, "PK\x03\x04")) {
    return {{"format", "ZIP archive"}};
  }
  return core_ml_folder(file, blob);
}

}  // namespace etbk::pte
