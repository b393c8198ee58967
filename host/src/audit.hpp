// Does everybody in this process mean the same registry?
//
// ExecuTorch keeps its table of backends in a global variable. A module that was linked with its
// own copy of the runtime has its own table: registering there succeeds and changes nothing. Two
// witnesses show it: the list that the application reads, and the modules that define
// `register_backend` themselves. Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/host.hpp>
#include <string>
#include <vector>

namespace etbk::host {

// Names in the registry that this host is bound to, in slot order.
std::vector<std::string> names_in_runtime();

// File of the module that holds that registry.
std::string module_of_runtime();

// Files of the other modules in this process that define the registry's functions.
std::vector<std::string> modules_with_own_runtime();

// Compares the application's list with what was registered through this host.
std::vector<Finding> compare_lists(const std::vector<std::string>& application,
                                   const std::vector<std::string>& registered_here);

}  // namespace etbk::host
