// The rules that read payloads: hashes in envelopes, and the named data a blob needs.
// Licence: BSD-3-Clause.
#pragma once

#include "container.hpp"
#include "findings.hpp"

namespace etbk::pte {

void check_hashes(const Container& file, const Container* external, Findings& findings);

}  // namespace etbk::pte
