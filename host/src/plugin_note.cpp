// Parsing, checking and comparing plugin identities.
// Licence: BSD-3-Clause.
#include "plugin_note.hpp"

#include <executorch_backend_kit/plugin.h>

#include <algorithm>

namespace etbk::host {
namespace {

std::uint32_t read_u32(const std::uint8_t* bytes, bool little_endian) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value = value << 8 | bytes[little_endian ? 3 - i : i];
  }
  return value;
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_letter(char c) { return is_small(c) || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string too_long(std::size_t size, std::size_t limit) {
  return "has " + std::to_string(size) + " bytes, at most " + std::to_string(limit) +
         " are allowed";
}

std::string join(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "" : ",") + item;
  }
  return text;
}

// Reads "key=value\n" at `at`; returns false at the end or where there is no such line.
bool take_line(const std::string& text, std::size_t* at, std::string* key, std::string* value) {
  const std::size_t end = text.find('\n', *at);
  const std::size_t equals = text.find('=', *at);
  if (end == std::string::npos || equals == std::string::npos || equals > end) {
    return false;
  }
  *key = text.substr(*at, equals - *at);
  *value = text.substr(equals + 1, end - equals - 1);
  *at = end + 1;
  return true;
}

std::string parse_text(const std::string& text, PluginIdentity* identity) {
  std::size_t at = 0;
  std::string key;
  std::string value;
  struct Fixed {
    const char* key;
    std::string* field;
  };
  const Fixed fixed[] = {
      {"name", &identity->name}, {"vendor", &identity->vendor}, {"version", &identity->version}};
  for (const Fixed& line : fixed) {
    if (!take_line(text, &at, &key, &value) || key != line.key) {
      return std::string("its text lacks the line '") + line.key + "=' where it belongs";
    }
    *line.field = value;
  }
  while (at < text.size()) {
    if (!take_line(text, &at, &key, &value) || key.empty()) {
      return "its text has a line that is not 'key=value'";
    }
    if (key == "id") {
      identity->backends.push_back(value);
    }  // other keys belong to later minors
  }
  return check_identity(*identity);
}

}  // namespace

std::string parse_plugin_note(const std::vector<std::uint8_t>& description, bool little_endian,
                              PluginIdentity* identity, bool* has_abi) {
  *identity = PluginIdentity();
  *has_abi = description.size() >= 16;
  if (!*has_abi) {
    return "it has " + std::to_string(description.size()) + " bytes, at least 16 are needed";
  }
  identity->abi_major = read_u32(description.data() + 4, little_endian);
  identity->abi_minor = read_u32(description.data() + 8, little_endian);
  identity->abi_minor_needed = read_u32(description.data() + 12, little_endian);
  const std::uint32_t format = read_u32(description.data(), little_endian);
  if (format != ETBK_NOTE_FORMAT) {
    return "its format is " + std::to_string(format) + ", this host reads format " +
           std::to_string(ETBK_NOTE_FORMAT);
  }
  if (description.size() - 16 > kMaxNoteTextBytes + 4) {
    return "its text " + too_long(description.size() - 16, kMaxNoteTextBytes);
  }
  std::string text(description.begin() + 16, description.end());
  text.resize(text.find_last_not_of('\0') + 1);  // npos + 1 is 0
  return parse_text(text, identity);
}

std::string check_backend_id(const std::string& id) {
  if (id.empty()) {
    return "is empty";
  }
  if (id.size() > 63) {
    return too_long(id.size(), 63);
  }
  for (const char c : id) {
    if (!is_letter(c) && !is_digit(c)) {
      return "is not an identifier (letters, digits and '_', not beginning with a digit)";
    }
  }
  return is_digit(id[0]) ? "begins with a digit" : "";
}

std::string check_plugin_name(const std::string& name) {
  if (name.empty()) {
    return "is empty";
  }
  if (name.size() > 63) {
    return too_long(name.size(), 63);
  }
  for (const char c : name) {
    if (!is_small(c) && !is_digit(c) && c != '_') {
      return "has characters other than small letters, digits and '_'";
    }
  }
  return is_small(name[0]) ? "" : "does not begin with a small letter";
}

std::string check_plain_text(const std::string& text) {
  if (text.empty()) {
    return "is empty";
  }
  if (text.size() > 255) {
    return too_long(text.size(), 255);
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return "has control characters";
    }
  }
  return "";
}

std::string check_identity(const PluginIdentity& identity) {
  std::string problem = check_plugin_name(identity.name);
  if (!problem.empty()) {
    return "its name " + problem;
  }
  problem = check_plain_text(identity.vendor);
  if (!problem.empty()) {
    return "its vendor " + problem;
  }
  problem = check_plain_text(identity.version);
  if (!problem.empty()) {
    return "its version " + problem;
  }
  if (identity.abi_minor_needed > identity.abi_minor) {
    return "it needs ABI minor " + std::to_string(identity.abi_minor_needed) +
           " and was compiled with " + std::to_string(identity.abi_minor);
  }
  if (identity.backends.empty() || identity.backends.size() > kMaxBackendsPerPlugin) {
    return "it names " + std::to_string(identity.backends.size()) + " backends, 1 to " +
           std::to_string(kMaxBackendsPerPlugin) + " are allowed";
  }
  for (std::size_t i = 0; i < identity.backends.size(); ++i) {
    const std::string& id = identity.backends[i];
    problem = check_backend_id(id);
    if (!problem.empty()) {
      return "its backend id " + std::to_string(i) + " " + problem;
    }
    if (std::count(identity.backends.begin(), identity.backends.end(), id) != 1) {
      return "it names the backend '" + id + "' twice";
    }
  }
  return "";
}

Difference compare_identities(const PluginIdentity& left, const PluginIdentity& right) {
  Difference difference;
  const auto compare = [&](const char* field, const std::string& a, const std::string& b,
                           bool essential) {
    if (a != b) {
      difference.text +=
          (difference.text.empty() ? "" : "; ") + std::string(field) + ": " + a + " / " + b;
      difference.essential |= essential;
    }
  };
  const auto range = [](const PluginIdentity& identity) {
    return std::to_string(identity.abi_major) + "." + std::to_string(identity.abi_minor) +
           " (needs minor " + std::to_string(identity.abi_minor_needed) + ")";
  };
  std::vector<std::string> left_ids = left.backends;
  std::vector<std::string> right_ids = right.backends;
  std::sort(left_ids.begin(), left_ids.end());
  std::sort(right_ids.begin(), right_ids.end());
  compare("backends", join(left_ids), join(right_ids), true);
  compare("ABI", range(left), range(right), true);
  compare("name", left.name, right.name, false);
  compare("vendor", left.vendor, right.vendor, false);
  compare("version", left.version, right.version, false);
  return difference;
}

}  // namespace etbk::host
