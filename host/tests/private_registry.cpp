// ExecuTorch's registry once more, for a host that was linked the wrong way: see
// python/test_private_registry.py.
#include <executorch/runtime/backend/interface.h>

#include <cstring>

namespace executorch::runtime {
namespace {

Backend table[16];
std::size_t count;

}  // namespace

BackendInterface* get_backend_class(const char* name) {
  for (std::size_t i = 0; i < count; ++i) {
    if (std::strcmp(table[i].name, name) == 0) {
      return table[i].backend;
    }
  }
  return nullptr;
}

Error register_backend(const Backend& backend) {
  if (count == 16 || get_backend_class(backend.name) != nullptr) {
    return Error::InvalidArgument;
  }
  table[count++] = backend;
  return Error::Ok;
}

std::size_t get_num_registered_backends() { return count; }

Result<const char*> get_backend_name(std::size_t slot) {
  if (slot >= count) {
    return Error::InvalidArgument;
  }
  return table[slot].name;
}

}  // namespace executorch::runtime
