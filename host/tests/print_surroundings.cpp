// Prints what discovery would take from the process: run with the set-group-id bit by a test.
#include <cstdio>

#include "surroundings.hpp"

int main() {
  const etbk::host::Surroundings here = etbk::host::Surroundings::of_this_process();
  std::printf("privileged=%d log=%d variables=[%s%s%s%s]\n", here.privileged, here.log,
              here.plugins.c_str(), here.add_plugins.c_str(), here.select.c_str(),
              here.disable.c_str());
  for (const std::string& directory : here.standard_directories) {
    std::printf("%s\n", directory.c_str());
  }
  return 0;
}
