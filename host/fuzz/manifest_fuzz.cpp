// Fuzz target: any bytes as a manifest. What is accepted must survive being written and read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "manifest_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace etbk::host;
  Manifest manifest;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (parse_manifest(text, &manifest).empty()) {
    Manifest again;
    if (!parse_manifest(write_manifest(manifest), &again).empty() ||
        !compare_identities(manifest.identity, again.identity).text.empty()) {
      std::abort();
    }
  }
  return 0;
}
