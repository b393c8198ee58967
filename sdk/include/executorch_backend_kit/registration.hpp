// ExecuTorch Backend Kit: what the registration source that is generated into an application does
// with the host's answer. Compiled in the application, so that it sees the runtime's list of
// backends exactly as the application does.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch/runtime/backend/interface.h>
#include <executorch_backend_kit/host.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace etbk::host {

// The names in the runtime's list, read by the application's own code.
inline std::vector<std::string> backends_seen_by_application() {
  std::vector<std::string> names;
  const size_t count = ::executorch::runtime::get_num_registered_backends();
  for (size_t slot = 0; slot < count; ++slot) {
    const auto name = ::executorch::runtime::get_backend_name(slot);
    if (name.ok() && *name != nullptr) {
      names.emplace_back(*name);
    }
  }
  return names;
}

// Writes what is wrong to standard error: nothing when all is well.
inline void print_findings(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::kInfo) {
      continue;
    }
    std::fprintf(stderr, "executorch-backend-kit: %s: %s\n", finding.code.c_str(),
                 finding.message.c_str());
    if (!finding.evidence.empty()) {
      std::fprintf(stderr, "  seen: %s\n", finding.evidence.c_str());
    }
    if (!finding.fix.empty()) {
      std::fprintf(stderr, "  fix:  %s\n", finding.fix.c_str());
    }
  }
}

// Tells people about plugins that were refused, and about a second registry in the process. The
// program goes on: what needs a missing backend fails when it is loaded. True if all is well.
inline bool report_registration(const std::vector<Plugin>& plugins) {
  bool good = true;
  for (const Plugin& plugin : plugins) {
    print_findings(plugin.findings);
    good = good && plugin.outcome != Outcome::kRefused;
  }
  const std::vector<Finding> second_registry = audit(backends_seen_by_application());
  print_findings(second_registry);
  return good && second_registry.empty();
}

}  // namespace etbk::host
