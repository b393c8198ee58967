// Constants that certain kernels take without a check and cannot bear.
// Licence: BSD-3-Clause.
#pragma once

#include <string>

#include "semantics.hpp"

namespace etbk::pte {

// Checks the constants of one call. The arguments are known to be as many and of the kinds that the
// operator's schema asks for.
void check_kernel_limits(const Scope& scope, const MethodScope& method, const std::string& name,
                         const fb::Vector<int32_t>& arguments, const std::string& place);

}  // namespace etbk::pte
