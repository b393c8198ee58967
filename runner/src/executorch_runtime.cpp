// Loading by path, and the function that ExecuTorch finds here in place of its own.
// Licence: BSD-3-Clause.
#include "executorch_runtime.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <vector>

namespace etbk::runner {
namespace {

// In this order; the last three are left out where a package lacks them.
constexpr struct {
  const char* name;
  bool required;
} kLibraries[] = {
    {"libexecutorch.so", true},
    {"libexecutorch_threadpool.so", true},
    {"libexecutorch_etdump.so", true},
    {"libexecutorch_kernels_optimized.so", true},
    {"libexecutorch_kernels_quantized.so", false},
    {"libexecutorch_backend_xnnpack.so", false},
    {"libexecutorch_backend_openvino.so", false},
    {"libexecutorch_backend_qnn.so", false},
};

BackendHook backend_hook = nullptr;
void* runtime_library = nullptr;

bool is_file(const std::string& path) { return access(path.c_str(), R_OK) == 0; }

std::string folder_of_program() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string whole(path, length < 0 ? 0 : static_cast<size_t>(length));
  return whole.substr(0, whole.rfind('/'));
}

// The folder with the libraries; empty if there is none.
std::string find_libraries(const std::string& named, std::string* looked) {
  std::vector<std::string> places;
  const char* const environment = std::getenv("ETBK_EXECUTORCH");
  if (!named.empty()) {
    places = {named};
  } else if (environment != nullptr && *environment != '\0') {
    places = {environment};
  } else {
    const std::string here = folder_of_program();
    places = {here + "/../../executorch", here + "/executorch", here + "/.."};
  }
  for (const std::string& place : places) {
    for (const char* const sub : {"/lib/", "/"}) {
      if (is_file(place + sub + kLibraries[0].name)) {
        return place + sub;
      }
    }
    *looked += (looked->empty() ? "" : ", ") + place;
  }
  return "";
}

std::string find_own_library() {
  const std::string here = folder_of_program();
  for (const char* const place : {"/../lib/", "/"}) {
    std::string path = here + place + ETBK_RUN_LIBRARY;
    if (is_file(path)) {
      return path;
    }
  }
  return "";
}

Finding cannot_load(const std::string& what) {
  const char* const reason = dlerror();
  return {"RUNNER-RUNTIME-UNUSABLE", what + " cannot be loaded.", reason == nullptr ? "" : reason,
          "Install executorch 1.5 and executorch-backend-kit again."};
}

}  // namespace

std::optional<Finding> load_executorch(const std::string& folder, RuntimeEntry* entry) {
  std::string looked;
  const std::string libraries = find_libraries(folder, &looked);
  if (libraries.empty()) {
    return Finding{"RUNNER-RUNTIME-MISSING", "etbk-run found no ExecuTorch 1.5 to run with.",
                   "no libexecutorch.so in " + looked,
                   "pip install 'executorch>=1.5,<1.6', or name its folder with --executorch."};
  }
  for (const auto& library : kLibraries) {
    const std::string path = libraries + library.name;
    if (!library.required && !is_file(path)) {
      continue;
    }
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (handle == nullptr && library.required) {
      return cannot_load(library.name);
    }
    runtime_library = runtime_library == nullptr ? handle : runtime_library;
  }
  const std::string own = find_own_library();
  void* const handle = dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (own.empty() || handle == nullptr) {
    return cannot_load(ETBK_RUN_LIBRARY);
  }
  *entry = reinterpret_cast<RuntimeEntry>(dlsym(handle, kRuntimeEntry));
  if (*entry == nullptr) {
    return cannot_load(ETBK_RUN_LIBRARY);
  }
  return std::nullopt;
}

void set_backend_hook(BackendHook hook) { backend_hook = hook; }

// executorch::runtime::get_backend_class(char const*): the program comes first where the loader
// looks names up, so ExecuTorch's own calls arrive here.
extern "C" __attribute__((visibility("default"))) void* etbk_run_get_backend_class(
    const char* name) __asm__("_ZN10executorch7runtime17get_backend_classEPKc");

extern "C" void* etbk_run_get_backend_class(const char* name) {
  using Find = void* (*)(const char*);
  static const auto find = reinterpret_cast<Find>(
      dlsym(runtime_library, "_ZN10executorch7runtime17get_backend_classEPKc"));
  void* const backend = find == nullptr ? nullptr : find(name);
  return backend_hook == nullptr ? backend : backend_hook(backend, name);
}

}  // namespace etbk::runner
