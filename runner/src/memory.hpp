// Memory and processor time of this process, as the kernel tells them.
// Licence: BSD-3-Clause.
#pragma once

#include <cstdint>

namespace etbk::runner {

struct Memory {
  double resident_mib = 0;
  double anonymous_mib = 0;    // no file behind it
  double file_backed_mib = 0;  // mapped files: the kernel can drop and read them again
  double peak_mib = 0;
};

Memory memory_now();

// Of all threads.
int64_t cpu_time_ns();

}  // namespace etbk::runner
