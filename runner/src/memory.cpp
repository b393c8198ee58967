// /proc/self/status and the process's clock.
// Licence: BSD-3-Clause.
#include "memory.hpp"

#include <cstdio>
#include <ctime>

namespace etbk::runner {

Memory memory_now() {
  Memory memory;
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) {
    return memory;
  }
  char line[256];
  const struct {
    const char* format;
    double* value;
  } fields[] = {{"VmRSS: %lf", &memory.resident_mib},
                {"RssAnon: %lf", &memory.anonymous_mib},
                {"RssFile: %lf", &memory.file_backed_mib},
                {"VmHWM: %lf", &memory.peak_mib}};
  while (std::fgets(line, sizeof line, file) != nullptr) {
    for (const auto& field : fields) {
      double kib = 0;
      if (std::sscanf(line, field.format, &kib) == 1) {
        *field.value = kib / 1024;
      }
    }
  }
  std::fclose(file);
  return memory;
}

int64_t cpu_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

}  // namespace etbk::runner
