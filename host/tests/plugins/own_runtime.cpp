// A library that was linked with its own copy of ExecuTorch's registry, and registers a backend
// there when it is loaded: success is reported and the runtime never hears of it.
#include <cstddef>

namespace executorch::runtime {

struct Backend {
  const char* name;
  void* backend;
};

static Backend table[16];
static std::size_t count;

__attribute__((visibility("default"))) unsigned register_backend(const Backend& backend) {
  table[count++] = backend;
  return 0;
}

}  // namespace executorch::runtime

static const unsigned registered = executorch::runtime::register_backend({"LostBackend", nullptr});

extern "C" __attribute__((visibility("default"))) unsigned own_runtime_status() {
  return registered;
}
