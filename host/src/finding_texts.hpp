// Every finding of the host, in words: one function per situation, all texts in one place.
//
// Each gives a code, one sentence, the evidence as "key=value" pairs and the cure.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/finding_codes.hpp>
#include <executorch_backend_kit/host.hpp>

#include "architecture.hpp"
#include "plugin_note.hpp"

namespace etbk::host {

// Versions of the plugin ABI that a host speaks, and its name for people.
struct HostAbi {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t minor_oldest = 0;  // of plugins, where the major is a draft
  std::string name;                // "ExecuTorch 1.5.1"
};

namespace findings {

Finding file_missing(const std::string& path);
Finding file_unreadable(const std::string& path, int system_error);
Finding not_a_file(const std::string& path);
Finding not_a_library(const std::string& path, const std::string& problem);
Finding damaged(const std::string& path, const std::string& problem);
Finding wrong_architecture(const std::string& path, const Architecture& plugin);
Finding note_missing(const std::string& path);
Finding notes_several(const std::string& path, std::size_t count);
Finding note_invalid(const std::string& path, const std::string& problem);
Finding note_disagrees(const std::string& path, const std::string& difference);

// The plugin is too new for the host, or too old.
Finding abi_too_new(const std::string& plugin, const PluginIdentity& identity, const HostAbi& host);
Finding abi_too_old(const std::string& plugin, const PluginIdentity& identity, const HostAbi& host);

Finding load_failed(const std::string& path, const std::string& loader_error);
Finding not_linked(const std::string& file_name);
Finding entry_missing(const std::string& path, const std::string& found_in);
Finding entry_failed(const std::string& plugin, EtbkStatus status, const std::string& text);
Finding entry_threw(const std::string& plugin, const std::string& what);
Finding entry_invalid(const std::string& plugin, const std::string& problem);

// A pattern of ETBK_DISABLE matched, or none of ETBK_SELECT did (`pattern` is then the whole
// value).
Finding disabled(const std::string& plugin, const std::string& variable, const std::string& pattern,
                 const std::string& matched);
Finding replaced(const std::string& path, const std::string& variable);
Finding same_file(const std::string& path, const std::string& other_path);
Finding untrusted_path(const std::string& path, const std::string& reason);

Finding manifest_unreadable(const std::string& manifest, const std::string& reason);
Finding manifest_invalid(const std::string& manifest, const std::string& problem);
Finding manifest_disagrees(const std::string& manifest, const std::string& library,
                           const Difference& difference);

// `holder` says who has the id. `same_plugin`: another copy of the plugin that is asking.
Finding duplicate_id(const std::string& plugin, const std::string& id, const std::string& holder,
                     bool same_plugin);
Finding backend_rejected(const std::string& plugin, const std::string& id, unsigned error);
Finding registry_full(const std::string& plugin, const std::string& id,
                      const std::vector<std::string>& names);
Finding backend_invisible(const std::string& id, const std::string& runtime);

// The application's list and ours differ: `missing` are ours that it lacks, `extra` its that we
// lack.
Finding registry_private(const std::vector<std::string>& missing,
                         const std::vector<std::string>& extra, const std::string& runtime);
Finding second_runtime(const std::string& module, const std::string& runtime);

Finding request_invalid(const std::string& request, const std::string& problem);

}  // namespace findings
}  // namespace etbk::host
