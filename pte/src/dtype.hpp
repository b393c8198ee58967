// Element types of the schema: names and sizes.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>

namespace etbk::pte {

// Bytes of one element; 0 for a number the schema does not know.
uint32_t element_size(int dtype);
// As torch writes it, "float32"; "unknown" for a number the schema does not know.
const char* dtype_name(int dtype);

}  // namespace etbk::pte
