// The few fields of XNNPACK's graph that concern the program, read with bounds at each step.
// Licence: BSD-3-Clause.
#include "xnnpack_blob.hpp"

#include <executorch_backend_kit/payload_hash.h>

#include <algorithm>
#include <cstring>

namespace etbk::pte {
namespace {

constexpr uint64_t kLargestGraph = uint64_t{64} << 20;
constexpr uint32_t kMostNamed = 100000;

// Fields of XNNGraph and ConstantDataOffset, by their place in the schema.
constexpr unsigned kNumExterns = 3;
constexpr unsigned kConstantData = 8;
constexpr unsigned kSize = 1;
constexpr unsigned kNamedKey = 2;

// A FlatBuffer without a promise; 0 is returned for whatever lies outside.
class Graph {
 public:
  explicit Graph(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  uint64_t root() const { return u32(0); }
  uint64_t field(uint64_t table, unsigned index) const {
    const auto fields =
        static_cast<uint64_t>(static_cast<int64_t>(table) - static_cast<int32_t>(u32(table)));
    const uint64_t slot = 4 + 2 * static_cast<uint64_t>(index);
    const uint64_t relative = slot + 2 <= u16(fields) ? u16(fields + slot) : 0;
    return relative == 0 ? 0 : table + relative;
  }
  uint64_t follow(uint64_t at) const { return at == 0 || u32(at) == 0 ? 0 : at + u32(at); }
  uint32_t u32(uint64_t at) const { return fits(at, 4) ? etbk_hash_read32(&bytes_[at]) : 0; }
  uint64_t u64(uint64_t at) const { return fits(at, 8) ? etbk_hash_read64(&bytes_[at]) : 0; }
  std::string text(uint64_t at) const {
    const uint64_t size = at == 0 ? 0 : u32(at);
    return size > 0 && size < 4096 && fits(at + 4, size)
               ? std::string(reinterpret_cast<const char*>(&bytes_[at + 4]), size)
               : std::string();
  }

 private:
  uint16_t u16(uint64_t at) const {
    return fits(at, 2) ? static_cast<uint16_t>(bytes_[at] | bytes_[at + 1] << 8) : uint16_t{0};
  }
  bool fits(uint64_t at, uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }

  std::vector<uint8_t> bytes_;
};

}  // namespace

XnnpackBlob read_xnnpack_blob(const Container& file, const Range& blob) {
  uint8_t head[30];
  if (!blob.valid || blob.size < sizeof head || !file.file().read(blob.offset, head, sizeof head) ||
      std::memcmp(head + 4, "XH00", 4) != 0) {
    return {};
  }
  const uint64_t offset = etbk_hash_read32(head + 10);
  const uint64_t size = etbk_hash_read32(head + 14);
  if (offset > blob.size || size > std::min(blob.size - offset, kLargestGraph)) {
    return {};
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  if (!file.file().read(blob.offset + offset, bytes.data(), bytes.size())) {
    return {};
  }
  const Graph graph(std::move(bytes));
  XnnpackBlob result;
  const uint64_t externs = graph.field(graph.root(), kNumExterns);
  result.arguments = externs == 0 ? 0 : graph.u32(externs);
  const uint64_t list = graph.follow(graph.field(graph.root(), kConstantData));
  const uint32_t count = list == 0 ? 0 : std::min(graph.u32(list), kMostNamed);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t entry = graph.follow(list + 4 + 4 * i);
    if (entry == 0) {
      break;
    }
    const std::string key = graph.text(graph.follow(graph.field(entry, kNamedKey)));
    const uint64_t bytes_at = graph.field(entry, kSize);
    if (!key.empty()) {
      result.named.push_back({key, bytes_at == 0 ? 0 : graph.u64(bytes_at)});
    }
  }
  return result;
}

}  // namespace etbk::pte
