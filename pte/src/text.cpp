// UTF-8 validation and quoting.
// Licence: BSD-3-Clause.
#include "text.hpp"

#include <algorithm>

namespace etbk::pte {

bool is_text(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size();) {
    const auto first = static_cast<unsigned char>(bytes[i]);
    if (first == 0) {
      return false;
    }
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || bytes.size() - i <= more) {
      return false;
    }
    uint32_t code = first & (0x3fu >> more);
    for (size_t j = 1; j <= more; ++j) {
      const auto next = static_cast<unsigned char>(bytes[i + j]);
      if ((next & 0xc0) != 0x80) {
        return false;
      }
      code = code << 6 | (next & 0x3fu);
    }
    const uint32_t least = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      return false;
    }
    i += more + 1;
  }
  return true;
}

std::string in_quotes(std::string_view bytes, size_t limit) {
  const std::string_view shown = bytes.substr(0, limit);
  std::string result = "\"";
  for (const char c : shown) {
    result += c >= ' ' && c <= '~' ? c : '?';
  }
  result += bytes.size() > limit ? "…\"" : "\"";
  return result;
}

}  // namespace etbk::pte
