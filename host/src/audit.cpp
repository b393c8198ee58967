// Comparing lists and modules.
// Licence: BSD-3-Clause.
#include "audit.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "adapter.hpp"
#include "finding_texts.hpp"
#include "surroundings.hpp"

namespace etbk::host {
namespace {

// executorch::runtime::register_backend(const Backend&): the same name in every release.
constexpr const char* kRegisterBackend =
    "_ZN10executorch7runtime16register_backendERKNS0_7BackendE";

struct Module {
  std::string name;  // empty for the program itself
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  std::vector<Range> ranges;

  bool holds(const void* address) const {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    return std::any_of(ranges.begin(), ranges.end(), [value](const Range& range) {
      return value >= range.begin && value < range.end;
    });
  }
};

int add_module(dl_phdr_info* info, std::size_t, void* modules) {
  Module module;
  module.name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) {
      const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
      module.ranges.push_back({begin, begin + segment.p_memsz});
    }
  }
  static_cast<std::vector<Module>*>(modules)->push_back(std::move(module));
  return 0;
}

std::vector<Module> loaded_modules() {
  std::vector<Module> modules;
  ::dl_iterate_phdr(add_module, &modules);
  return modules;
}

// True if the address is only a stub in the program: a program that is not position-independent
// gives every shared function an address of its own.
bool is_stub(void* address) {
#if defined(__GLIBC__)
  Dl_info where;
  void* entry = nullptr;
  if (::dladdr1(address, &where, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr) {
    return false;
  }
  return static_cast<const ElfW(Sym)*>(entry)->st_shndx == SHN_UNDEF;
#else
  (void)address;
  return false;
#endif
}

// True if the module itself defines `register_backend` and shows it.
bool defines_runtime(const Module& module) {
  const char* const name = module.name.empty() ? nullptr : module.name.c_str();
  void* const handle = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) {
    return false;  // not a file: the kernel's own module
  }
  void* const symbol = ::dlsym(handle, kRegisterBackend);
  const bool defines = symbol != nullptr && module.holds(symbol) && !is_stub(symbol);
  ::dlclose(handle);
  return defines;
}

std::string file_of(const Module& module) {
  const std::string path = resolved_path(module.name.empty() ? "/proc/self/exe" : module.name);
  return path.empty() ? module.name : path;
}

// The module that our own calls reach. A hidden copy shows no symbol, yet our address lies in it.
const Module* owner(const std::vector<Module>& modules,
                    const std::vector<const Module*>& defining) {
  void* const ours = const_cast<void*>(adapter::register_backend_address());
  if (is_stub(ours)) {
    return defining.empty() ? nullptr : defining.front();
  }
  for (const Module& module : modules) {
    if (module.holds(ours)) {
      return &module;
    }
  }
  return nullptr;
}

std::vector<const Module*> defining_modules(const std::vector<Module>& modules) {
  std::vector<const Module*> defining;
  for (const Module& module : modules) {
    if (defines_runtime(module)) {
      defining.push_back(&module);
    }
  }
  return defining;
}

std::vector<std::string> difference(const std::vector<std::string>& from,
                                    const std::vector<std::string>& without) {
  const std::set<std::string> known(without.begin(), without.end());
  std::vector<std::string> rest;
  std::copy_if(from.begin(), from.end(), std::back_inserter(rest),
               [&](const std::string& name) { return known.count(name) == 0; });
  return rest;
}

}  // namespace

std::vector<std::string> names_in_runtime() {
  std::vector<std::string> names;
  for (std::size_t slot = 0; slot < adapter::registered_count(); ++slot) {
    const char* const name = adapter::registered_name(slot);
    names.push_back(name == nullptr ? "" : name);
  }
  return names;
}

std::string module_of_runtime() {
  const std::vector<Module> modules = loaded_modules();
  const Module* const module = owner(modules, defining_modules(modules));
  return module == nullptr ? "" : file_of(*module);
}

std::vector<std::string> modules_with_own_runtime() {
  const std::vector<Module> modules = loaded_modules();
  const std::vector<const Module*> defining = defining_modules(modules);
  const Module* const own = owner(modules, defining);
  std::vector<std::string> files;
  for (const Module* module : defining) {
    if (module != own) {
      files.push_back(file_of(*module));
    }
  }
  return files;
}

std::vector<Finding> compare_lists(const std::vector<std::string>& application,
                                   const std::vector<std::string>& registered_here) {
  const std::vector<std::string> missing = difference(registered_here, application);
  const std::vector<std::string> extra = difference(application, names_in_runtime());
  if (missing.empty() && extra.empty()) {
    return {};
  }
  return {findings::registry_private(missing, extra, module_of_runtime())};
}

}  // namespace etbk::host
