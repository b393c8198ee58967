// A program through the installed ExecuTorch: load, load every method, execute.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>
#include <vector>

namespace etbk::pte::differential {

enum Stage { kStarted = 0, kProgramLoaded = 1, kMethodLoaded = 2, kExecuted = 3 };

// `data` is the .ptd, empty if there is none. Reports stages; returns 0 if all went well and 1 if
// the runtime said no.
int run_in_stock_runtime(const std::vector<uint8_t>& program, const std::vector<uint8_t>& data,
                         bool strict, volatile int* stage);

}  // namespace etbk::pte::differential
