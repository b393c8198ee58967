// What is in a file, as JSON: etbk.inspect/1.
// Licence: BSD-3-Clause.
#pragma once

#include "blob.hpp"
#include "container.hpp"
#include "findings.hpp"

namespace etbk::pte {

struct InspectOptions {
  bool hash = false;  // of every blob, segment and entry of named data; reads all of them
};

Json inspect(const Container& file, const InspectOptions& options);

// {code, severity, message, evidence, fix} for each; message names the place.
Json findings_json(const Findings& findings);

// A text of the file, cut to what a report can bear.
Json json_text(std::string_view bytes);

}  // namespace etbk::pte
