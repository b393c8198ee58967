// The identity a plugin carries in its note, and the grammar of its names.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace etbk::host {

// What a plugin says of itself: in its note, in its manifest, and through its entry.
struct PluginIdentity {
  std::string name;
  std::string vendor;
  std::string version;
  std::uint32_t abi_major = 0;
  std::uint32_t abi_minor = 0;         // compiled with
  std::uint32_t abi_minor_needed = 0;  // of the host, at least
  std::vector<std::string> backends;
};

constexpr std::size_t kMaxBackendsPerPlugin = 64;

constexpr std::size_t kMaxNoteTextBytes = 4096;

// Parses the description part of a note (from `format` on). Returns an empty text on success, else
// what is wrong with it. The ABI fields are the same in every major: they are filled whenever the
// note is long enough to have them (`*has_abi`), also when the rest cannot be understood.
std::string parse_plugin_note(const std::vector<std::uint8_t>& description, bool little_endian,
                              PluginIdentity* identity, bool* has_abi);

// Grammar of the fields, the same in notes, manifests and entries. Empty when good, else what is
// wrong: "is empty", "has 70 bytes, at most 63 are allowed", ...
std::string check_backend_id(const std::string& id);     // a Python identifier, at most 63 bytes
std::string check_plugin_name(const std::string& name);  // [a-z][a-z0-9_]*, at most 63 bytes
std::string check_plain_text(const std::string& text);   // no control characters; 1 to 255 bytes
// All of the above, and 1 to 64 different ids.
std::string check_identity(const PluginIdentity& identity);

// What differs between two accounts of one plugin, field by field: "version: 1.2.0 / 1.3.0".
struct Difference {
  std::string text;        // empty when equal
  bool essential = false;  // an id or the ABI range differs
};
Difference compare_identities(const PluginIdentity& left, const PluginIdentity& right);

}  // namespace etbk::host
