// Words of a command line: options with and without values, then the rest.
// Licence: BSD-3-Clause.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace etbk::runner {

class CommandLine {
 public:
  // `with_value` and `flags` are the options that there are, with their dashes.
  static std::optional<CommandLine> parse(int count, char** words,
                                          const std::vector<std::string>& with_value,
                                          const std::vector<std::string>& flags,
                                          std::string* wrong);

  const std::vector<std::string>& rest() const { return rest_; }
  bool has(const std::string& flag) const;
  std::string get(const std::string& option, const std::string& otherwise = "") const;
  std::vector<std::string> all(const std::string& option) const;
  // A finite number of at least `least`; `wrong` says what else was given.
  double number(const std::string& option, double otherwise, double least,
                std::string* wrong) const;

 private:
  std::vector<std::pair<std::string, std::string>> options_;
  std::vector<std::string> rest_;
};

}  // namespace etbk::runner
