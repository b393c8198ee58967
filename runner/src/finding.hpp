// A finding: stable code, one sentence, evidence, cure; as everywhere in the kit.
// Licence: BSD-3-Clause.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace etbk::runner {

using Json = nlohmann::ordered_json;

struct Finding {
  std::string code;
  std::string message;
  std::string evidence;
  std::string fix;
  std::string severity = "error";

  Json to_json() const {
    return {{"code", code},
            {"severity", severity},
            {"message", message},
            {"evidence", evidence},
            {"fix", fix}};
  }
};

// One line of text; bytes that are not UTF-8 become U+FFFD.
inline std::string dump(const Json& document, int indent = -1) {
  return document.dump(indent, ' ', false, nlohmann::detail::error_handler_t::replace);
}

}  // namespace etbk::runner
