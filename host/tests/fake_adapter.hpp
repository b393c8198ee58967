// An adapter without ExecuTorch: a registry that is an array, with switches for what goes wrong.
#pragma once

#include <executorch_backend_kit/plugin.h>

#include <string>
#include <vector>

namespace etbk::fake {

struct Runtime {
  std::vector<std::string> names;               // the list that the runtime reads
  std::vector<const EtbkBackendApi*> backends;  // ours among them, null for others
  std::size_t slots = 16;
  bool forgets = false;       // says yes and keeps nothing: a private registry
  unsigned refuses_with = 0;  // this error instead of registering
};

Runtime& runtime();

// The host table, to change the ABI version that the host claims.
EtbkHostApi& host_api();

// Takes `count` slots with names "Builtin0", "Builtin1", ...
void fill(std::size_t count);

}  // namespace etbk::fake
