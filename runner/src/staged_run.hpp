// Runs one program in a child process and tells how far it came: etbk.run/1.
// Licence: BSD-3-Clause.
#pragma once

#include <string>
#include <vector>

#include "finding.hpp"

namespace etbk::runner {

struct RunRequest {
  std::string program;
  std::string method;  // empty: "forward", or the only one
  std::string inputs;  // folder; empty: ones
  std::string outputs;
  std::string etdump;
  std::string load_mode = "MmapUseMlockIgnoreErrors";
  std::string executorch;
  std::vector<std::string> plugins;
  std::vector<std::string> data;
  unsigned threads = 0;
  double time_limit = 900;
};

struct RunReport {
  Json document;
  int exit_code = 0;  // 0 ran, 1 did not, 2 no such program
};

RunReport run_in_stages(const RunRequest& request);

}  // namespace etbk::runner
