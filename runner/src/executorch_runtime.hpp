// Finds an installed ExecuTorch and loads it, with the part of etbk-run that is bound to it.
// Licence: BSD-3-Clause.
#pragma once

#include <optional>
#include <string>

#include "finding.hpp"
#include "runtime_call.hpp"

namespace etbk::runner {

// Loads the libraries of the ExecuTorch package in `folder`, or, if that is empty, of the one named
// in ETBK_EXECUTORCH, beside the kit in site-packages, or in the folder `executorch` beside this
// program. Once per process. `entry` receives the function to call.
std::optional<Finding> load_executorch(const std::string& folder, RuntimeEntry* entry);

// For RuntimeCall.
void set_backend_hook(BackendHook hook);

}  // namespace etbk::runner
