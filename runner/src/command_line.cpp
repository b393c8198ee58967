// --option VALUE, --option=VALUE, --flag, and everything after "--".
// Licence: BSD-3-Clause.
#include "command_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace etbk::runner {
namespace {

bool is_among(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

std::optional<CommandLine> CommandLine::parse(int count, char** words,
                                              const std::vector<std::string>& with_value,
                                              const std::vector<std::string>& flags,
                                              std::string* wrong) {
  CommandLine line;
  bool only_rest = false;
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    if (only_rest || word.size() < 2 || word[0] != '-') {
      line.rest_.push_back(word);
      continue;
    }
    if (word == "--") {
      only_rest = true;
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos && is_among(flags, name)) {
      line.options_.emplace_back(name, "");
    } else if (is_among(with_value, name) && equals != std::string::npos) {
      line.options_.emplace_back(name, word.substr(equals + 1));
    } else if (is_among(with_value, name) && i + 1 < count) {
      line.options_.emplace_back(name, words[++i]);
    } else {
      *wrong = is_among(with_value, name) ? name + " needs a value" : "unknown option " + name;
      return std::nullopt;
    }
  }
  return line;
}

bool CommandLine::has(const std::string& flag) const { return !all(flag).empty(); }

std::string CommandLine::get(const std::string& option, const std::string& otherwise) const {
  const auto values = all(option);
  return values.empty() ? otherwise : values.back();
}

std::vector<std::string> CommandLine::all(const std::string& option) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : options_) {
    if (name == option) {
      values.push_back(value);
    }
  }
  return values;
}

double CommandLine::number(const std::string& option, double otherwise, double least,
                           std::string* wrong) const {
  if (!has(option)) {
    return otherwise;
  }
  const std::string text = get(option);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value < least) {
    *wrong = option + " needs a number of at least " + std::to_string(least) + ", not " + text;
  }
  return value;
}

}  // namespace etbk::runner
