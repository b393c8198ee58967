// Values in files: a folder with index.json and one raw little-endian file per tensor, as
// python/executorch_backend_kit/compare/tensor_files.py writes and reads them.
// Licence: BSD-3-Clause.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "finding.hpp"
#include "value.hpp"

namespace etbk::runner {

std::optional<Finding> read_values(const std::string& folder, std::vector<Value>* values);

// The index comes last and is renamed into place. Files are `folder`/N.bin.
std::optional<Finding> write_values(const std::string& folder, const std::vector<Value>& values);

// Kind, dtype and sizes of each, for reports; of floating-point tensors, how many elements are not
// finite.
Json describe(const std::vector<Value>& values);

}  // namespace etbk::runner
