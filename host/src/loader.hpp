// From a judged candidate, or an entry linked into the program, to registered backends.
//
// All functions: the caller holds the registry's mutex. Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/host.hpp>

#include "discovery.hpp"
#include "finding_texts.hpp"
#include "registry.hpp"

namespace etbk::host {

// The ABI that this host speaks.
HostAbi host_abi();

// Loads the candidate's library and registers its backends, unless discovery refused or disabled
// it. The registry's history gets the outcome.
Plugin load(Candidate candidate, Registry* registry);

// The same for a library that the program was linked with, by its file name.
Plugin load_linked(const std::string& file_name, Registry* registry);

// The same for a static plugin.
Plugin load_static(const EtbkStaticPlugin& row, Registry* registry);

}  // namespace etbk::host
