// Reads a plugin manifest: the JSON file beside a library that says what it is without loading it.
//
// {"schema": "etbk.manifest/1", "name", "vendor", "version", "library": path relative to the
//  manifest, "abi": {"major", "minor", "minor_needed"}, "backends": [ids]}
// Other fields are allowed and ignored. Licence: BSD-3-Clause.
#pragma once

#include <string>

#include "plugin_note.hpp"

namespace etbk::host {

constexpr const char* kManifestSchema = "etbk.manifest/1";
constexpr std::size_t kMaxManifestBytes = 64 * 1024;

struct Manifest {
  PluginIdentity identity;
  std::string library;  // as written: relative to the manifest's directory
};

// Parses the text of a manifest. Returns an empty text on success, else the first thing that is
// wrong, naming the field.
std::string parse_manifest(const std::string& text, Manifest* manifest);

// The text of the manifest for a plugin, ending with a newline.
std::string write_manifest(const Manifest& manifest);

}  // namespace etbk::host
