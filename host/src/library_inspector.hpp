// What can be known of a plugin library without running anything of it.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/host.hpp>
#include <string>
#include <vector>

#include "architecture.hpp"
#include "byte_source.hpp"
#include "finding_texts.hpp"
#include "plugin_note.hpp"

namespace etbk::host {

struct Inspection {
  FileIdentity file;          // valid if `exists`
  bool exists = false;        // there is a regular file
  Architecture architecture;  // valid if `is_library`
  bool is_library = false;    // a whole ELF shared library
  PluginIdentity identity;    // valid if `has_identity`
  bool has_abi = false;       // the ABI fields of `identity` are valid
  bool has_identity = false;  // the note was understood
  std::vector<Finding> findings;
};

// Reads the file: exists, readable, a whole shared library, exactly one note that is understood.
// Of any architecture and any ABI version.
Inspection read_library(const std::string& path);

// read_library, and then: of this machine's architecture, and of an ABI this host speaks. All that
// is wrong is reported at once.
Inspection inspect_library(const std::string& path, const HostAbi& host);

// The ABI finding for a plugin, if there is one, appended to `findings`.
void judge_abi(const std::string& plugin, const PluginIdentity& identity, const HostAbi& host,
               std::vector<Finding>* findings);

}  // namespace etbk::host
