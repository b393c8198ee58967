// Text from a file, made fit for people.
// Licence: BSD-3-Clause.
#pragma once

#include <string>
#include <string_view>

#include "schema.hpp"

namespace etbk::pte {

// The text of a string that may be absent.
inline std::string_view view(const fb::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

// UTF-8 without zero bytes.
bool is_text(std::string_view bytes);

// At most `limit` bytes of it, everything unprintable replaced by '?', quoted.
std::string in_quotes(std::string_view bytes, size_t limit = 80);

}  // namespace etbk::pte
