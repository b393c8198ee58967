// Finds candidate plugins and judges them as far as this is possible without loading them.
//
// Order: libraries named by the application, ETBK_ADD_PLUGINS (or ETBK_PLUGINS), manifest
// directories, standard directories, installed ones. The first to hold a backend id keeps it.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/host.hpp>
#include <string>
#include <vector>

#include "library_inspector.hpp"
#include "surroundings.hpp"

namespace etbk::host {

// A plugin with what was read of its file. `plugin.outcome` is kCandidate if nothing speaks against
// loading it.
struct Candidate {
  Plugin plugin;
  Inspection inspection;
};

// The candidate behind a path: a library, or a manifest if the path ends with ".json".
Candidate judge_path(const std::string& path, Origin origin, bool privileged, const HostAbi& host);

std::vector<Candidate> find_candidates(const DiscoveryOptions& options,
                                       const Surroundings& surroundings, const HostAbi& host);

}  // namespace etbk::host
