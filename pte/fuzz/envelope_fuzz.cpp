// Fuzz target: any bytes as the fields of an envelope whose magic and checksum are right.
#include <executorch_backend_kit/envelope.h>
#include <executorch_backend_kit/pte.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 24) {
    return 0;
  }
  std::vector<std::uint8_t> blob(data, data + size);
  static const char kStart[] = "ETBKENV\x1a\x01\x00\x00";
  std::memcpy(blob.data(), kStart, 12);
  const std::uint32_t wanted = etbk_hash_read32(&blob[12]);
  const std::size_t header = wanted <= size && wanted >= 24 ? wanted : size;
  std::memset(&blob[16], 0, 8);
  const std::uint64_t sum = etbk_hash_of(blob.data(), header);
  std::memcpy(&blob[16], &sum, 8);
  EtbkEnvelope envelope{};
  if (etbk_envelope_read(blob.data(), size, size, &envelope) == ETBK_ENVELOPE_OK) {
    std::size_t bytes = envelope.backend_id.size + envelope.device.size;
    for (std::uint32_t i = 0; i < envelope.named_count; ++i) {
      const EtbkEnvelopeNamed named = etbk_envelope_named(blob.data(), &envelope, i);
      for (std::size_t j = 0; j < named.key.size && bytes < 1 << 16; ++j) {
        bytes += static_cast<unsigned char>(named.key.data[j]);
      }
    }
    volatile std::size_t seen = bytes;
    (void)seen;
  }
  etbk_pte_free(etbk_pte_grade(blob.data(), size, size, R"({"id": "A", "format_newest": 3})"));
  return 0;
}
