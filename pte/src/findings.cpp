// The table of rules and the bounded list of findings.
// Licence: BSD-3-Clause.
#include "findings.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace etbk::pte {

const std::vector<Rule>& rules() {
  static const std::vector<Rule> kRules = {
#define X(number, severity, meaning) {number, Severity::severity, meaning},
#include "rules.inc"
#undef X
  };
  return kRules;
}

std::string rule_name(uint16_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "PTE-%03u", number);
  return text;
}

void Findings::add(uint16_t rule, std::string place, std::string evidence) {
  const auto same =
      std::count_if(list_.begin(), list_.end(), [&](const Finding& f) { return f.rule == rule; });
  if (list_.size() >= kLimit || static_cast<size_t>(same) >= kLimitPerRule) {
    ++left_out_;
    return;
  }
  Severity severity = Severity::kError;
  for (const Rule& known : rules()) {
    if (known.number == rule) {
      severity = known.severity;
    }
  }
  list_.push_back({rule, severity, std::move(place), std::move(evidence)});
}

bool Findings::any(Severity severity) const {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const Finding& f) { return f.severity == severity; });
}

bool Findings::has(uint16_t rule) const {
  return std::any_of(list_.begin(), list_.end(), [&](const Finding& f) { return f.rule == rule; });
}

}  // namespace etbk::pte
