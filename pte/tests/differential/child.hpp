// Work that may crash, in a process of its own.
// Licence: BSD-3-Clause.
#pragma once

#include <functional>

namespace etbk::pte::differential {

struct ChildResult {
  int signal = 0;  // that ended it
  bool hung = false;
  int stage = 0;   // the last one it reported
  int answer = 0;  // what it returned, if it ended well
  bool crashed() const { return signal != 0 || hung; }
};

// Runs `work`, which reports stages through its argument and returns an answer from 0 to 250.
// Ends it after `seconds`.
ChildResult in_child(const std::function<int(volatile int* stage)>& work, unsigned seconds);

}  // namespace etbk::pte::differential
