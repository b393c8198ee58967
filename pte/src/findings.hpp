// What the reader has to say about a file: rule, place, sentence.
// Licence: BSD-3-Clause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace etbk::pte {

enum class Severity { kError, kUnknown, kWarning };

struct Rule {
  uint16_t number;
  Severity severity;
  const char* meaning;
};

// All rules, in ascending order.
const std::vector<Rule>& rules();

struct Finding {
  uint16_t rule;
  Severity severity;
  std::string place;     // the field, as execution_plan[0].values[3].sizes
  std::string evidence;  // what is there, and what would be right
};

// "PTE-101"
std::string rule_name(uint16_t number);

// Collects findings; bounded, so that a file full of faults costs no more than a few.
class Findings {
 public:
  static constexpr size_t kLimit = 256;
  static constexpr size_t kLimitPerRule = 16;

  void add(uint16_t rule, std::string place, std::string evidence);

  const std::vector<Finding>& list() const { return list_; }
  size_t left_out() const { return left_out_; }
  bool any(Severity severity) const;
  bool has(uint16_t rule) const;

 private:
  std::vector<Finding> list_;
  size_t left_out_ = 0;
};

}  // namespace etbk::pte
