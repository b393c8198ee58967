// Whether a runtime that was profiled can run a file: etbk.check/1. Nothing is run.
// Licence: BSD-3-Clause.
#pragma once

#include "blob.hpp"
#include "container.hpp"
#include "findings.hpp"

namespace etbk::pte {

struct CheckOptions {
  bool hash = false;  // also the hashes in envelopes
};

// `file` may be null when opening failed: `opening` then says why. `profile` is etbk.profile/1.
Json check(const Container* file, const Container* external, const Findings& opening,
           const Json& profile, const CheckOptions& options);

}  // namespace etbk::pte
