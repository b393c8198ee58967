// Look-up in the generated table of operators.
// Licence: BSD-3-Clause.
#include "operator_schemas.hpp"

#include <algorithm>
#include <iterator>

namespace etbk::pte {
namespace {

struct Schema {
  std::string_view name;
  const char* arguments;
};

// Sorted by name.
constexpr Schema kSchemas[] = {
#define X(name, arguments) {name, arguments},
#include "operator_schemas.inc"
#undef X
};

}  // namespace

const char* operator_arguments(std::string_view name) {
  const auto* const found = std::lower_bound(
      std::begin(kSchemas), std::end(kSchemas), name,
      [](const Schema& schema, std::string_view key) { return schema.name < key; });
  return found != std::end(kSchemas) && found->name == name ? found->arguments : nullptr;
}

}  // namespace etbk::pte
