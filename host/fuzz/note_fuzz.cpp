// Fuzz target: any bytes as a plugin library.
#include <cstddef>
#include <cstdint>

#include "elf_reader.hpp"
#include "plugin_note.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace etbk::host;
  const ElfReport report = read_elf(MemorySource(data, size), "ETBK", ".note.etbk");
  for (const ElfNote& note : report.notes) {
    PluginIdentity identity;
    bool has_abi = false;
    parse_plugin_note(note.description, report.architecture.little_endian, &identity, &has_abi);
  }
  // A note alone too: most mutations of a library never reach its text.
  PluginIdentity identity;
  bool has_abi = false;
  parse_plugin_note({data, data + size}, true, &identity, &has_abi);
  return 0;
}
