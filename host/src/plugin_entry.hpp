// Calls a plugin's entry, once, and checks every word of its answer.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/host.hpp>
#include <string>
#include <vector>

#include "finding_texts.hpp"

namespace etbk::host {

struct EntryAnswer {
  std::vector<const EtbkBackendApi*> backends;  // usable ones; empty if a finding is an error
  PluginIdentity identity;                      // as told by the entry
  std::vector<Finding> findings;
  bool good() const { return !backends.empty(); }
};

// Calls `entry`. `label` names the plugin in findings.
EntryAnswer call_entry(EtbkPluginEntry entry, const std::string& label, const HostAbi& host);

}  // namespace etbk::host
