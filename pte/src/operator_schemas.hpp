// What arguments the kernels in ExecuTorch's own libraries take.
//
// One letter per argument of a kernel call: T tensor, S number, I int, D float, B bool, G text,
// L list of ints, F of floats, A of bools, N of tensors; small letters may be none (n: a list whose
// items may be). W a tensor that is written, V a list of tensors that are, R what is returned
// again, Q a number that is returned, and stored over the value that was there.
//
// Licence: BSD-3-Clause.
#pragma once

#include <string_view>

namespace etbk::pte {

// Null for an operator that is not in the table. `name` is as in the file: "aten::add.out".
const char* operator_arguments(std::string_view name);

}  // namespace etbk::pte
