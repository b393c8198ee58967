// Load, first and steady time of programs, each in a process of its own, in interleaved rounds.
// Licence: BSD-3-Clause.
#pragma once

#include <string>
#include <vector>

#include "finding.hpp"
#include "staged_run.hpp"

namespace etbk::runner {

// `like` says how each is loaded; its program is not looked at. {"schema": "etbk.bench/1", ...}
RunReport bench(const std::vector<std::string>& programs, const RunRequest& like, double budget);

}  // namespace etbk::runner
