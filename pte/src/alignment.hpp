// Lists of 64-bit numbers that do not lie where such numbers may be read.
// Licence: BSD-3-Clause.
#pragma once

#include <string>

#include "schema.hpp"

namespace etbk::pte {

// The field of the first such list, empty if there is none. FlatBuffers' verifier looks at single
// numbers only; some processors fault on the access.
std::string misaligned_list(const ps::Program& program);

}  // namespace etbk::pte
