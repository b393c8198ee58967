// Backends of this process: loads plugins through the host, and says which are missing.
// Licence: BSD-3-Clause.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "finding.hpp"

namespace etbk::runner {

// Loads these libraries, then, if `discover`, the discovered ones that bring one of `backends` that
// is not registered yet. What the host says of them is added to `findings`.
void load_plugins(const std::vector<std::string>& paths, bool discover,
                  const std::vector<std::string>& backends, std::vector<Finding>* findings);

// The first of `backends` that cannot run here, and why.
std::optional<Finding> unusable_backend(const std::vector<std::string>& backends,
                                        const std::vector<Finding>& of_plugins);

// The sentence behind the last failure of a plugin; empty if there is none. Without a full stop.
std::string host_text();

}  // namespace etbk::runner
