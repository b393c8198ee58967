// Loading and registering.
// Licence: BSD-3-Clause.
#include "loader.hpp"

#include <dlfcn.h>
#include <executorch_backend_kit/plugin.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "adapter.hpp"
#include "audit.hpp"
#include "plugin_entry.hpp"

namespace etbk::host {
namespace {

std::string label_of(const Plugin& plugin) {
  return plugin.name.empty() ? plugin.path : plugin.name;
}

std::string describe(const Plugin& plugin) {
  std::string text = "the plugin '" + plugin.name + "' " + plugin.version;
  return plugin.path.empty() ? text + " (linked into the program)"
                             : text + " (" + plugin.path + ")";
}

void refuse(Plugin* plugin, Finding finding) {
  if (finding.severity == Severity::kError) {
    plugin->outcome = Outcome::kRefused;
  }
  plugin->findings.push_back(std::move(finding));
}

PluginIdentity identity_of(const Plugin& plugin) {
  return {plugin.name,      plugin.vendor,           plugin.version, plugin.abi_major,
          plugin.abi_minor, plugin.abi_minor_needed, plugin.backends};
}

void take_identity(const PluginIdentity& identity, Plugin* plugin) {
  plugin->name = identity.name;
  plugin->vendor = identity.vendor;
  plugin->version = identity.version;
  plugin->abi_major = identity.abi_major;
  plugin->abi_minor = identity.abi_minor;
  plugin->abi_minor_needed = identity.abi_minor_needed;
  plugin->backends = identity.backends;
}

// The fate of a plugin whose entry was called before: the same as then.
void repeat(const Entered& entered, Plugin* plugin) {
  take_identity(identity_of(entered.plugin), plugin);
  plugin->blob_formats = entered.plugin.blob_formats;
  if (entered.plugin.outcome == Outcome::kRegistered) {
    plugin->outcome = Outcome::kAlreadyRegistered;
    return;
  }
  plugin->outcome = entered.plugin.outcome;
  plugin->findings.insert(plugin->findings.end(), entered.plugin.findings.begin(),
                          entered.plugin.findings.end());
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Finding duplicate(const Plugin& plugin, const std::string& id, const Registry& registry) {
  const Plugin* const holder = registry.find_holder(id);
  if (holder == nullptr) {
    return findings::duplicate_id(
        label_of(plugin), id, "a backend that ExecuTorch or the program registered itself", false);
  }
  const bool same_plugin =
      !compare_identities(identity_of(*holder), identity_of(plugin)).essential &&
      holder->name == plugin.name && holder->vendor == plugin.vendor &&
      holder->version == plugin.version;
  return findings::duplicate_id(label_of(plugin), id,
                                same_plugin ? holder->path : describe(*holder), same_plugin);
}

// Refuses a plugin one of whose ids is taken, before anything of it runs.
bool refuse_duplicates(const Registry& registry, Plugin* plugin) {
  const std::vector<std::string> taken = names_in_runtime();
  for (const std::string& id : plugin->backends) {
    if (contains(taken, id) || registry.find_holder(id) != nullptr) {
      refuse(plugin, duplicate(*plugin, id, registry));
      plugin->outcome = Outcome::kRefused;
      return true;
    }
  }
  return false;
}

void hold(const EtbkBackendApi& backend, const std::string& id, Registry* registry,
          Plugin* plugin) {
  plugin->blob_formats.push_back({id, backend.info->blob_format_oldest,
                                  backend.info->blob_format_newest, backend.check_blob != nullptr});
  registry->add_holder(id, *plugin);
}

void register_one(const EtbkBackendApi* backend, const std::string& id, Registry* registry,
                  Plugin* plugin, std::size_t* fresh) {
  unsigned runtime_error = 0;
  switch (adapter::register_backend(backend, &runtime_error)) {
    case adapter::Registration::kRegistered:
      ++*fresh;
      hold(*backend, id, registry, plugin);
      return;
    case adapter::Registration::kAlreadyOurs:
      hold(*backend, id, registry, plugin);
      return;
    case adapter::Registration::kDuplicateId:
      refuse(plugin, duplicate(*plugin, id, *registry));
      return;
    case adapter::Registration::kTableFull:
      refuse(plugin, findings::registry_full(label_of(*plugin), id, names_in_runtime()));
      return;
    case adapter::Registration::kInvisible:
      refuse(plugin, findings::backend_invisible(id, module_of_runtime()));
      return;
    case adapter::Registration::kInvalid:
      refuse(plugin, findings::entry_invalid(label_of(*plugin), "backend '" + id + "'"));
      return;
    case adapter::Registration::kRuntimeError:
      refuse(plugin, findings::backend_rejected(label_of(*plugin), id, runtime_error));
      return;
  }
}

// Calls the entry and registers what it offers. `noted`: the plugin has a note, in `plugin`.
void enter(EtbkPluginEntry entry, bool noted, Registry* registry, Plugin* plugin) {
  EntryAnswer answer = call_entry(entry, label_of(*plugin), host_abi());
  for (Finding& finding : answer.findings) {
    refuse(plugin, std::move(finding));
  }
  if (!answer.good()) {
    return;
  }
  if (noted) {
    const Difference difference = compare_identities(identity_of(*plugin), answer.identity);
    if (!difference.text.empty()) {
      Finding finding = findings::note_disagrees(plugin->path, difference.text);
      finding.severity = difference.essential ? Severity::kError : Severity::kWarning;
      refuse(plugin, std::move(finding));
    }
  } else {
    take_identity(answer.identity, plugin);
  }
  if (plugin->outcome == Outcome::kRefused) {
    return;
  }
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < answer.backends.size(); ++i) {
    register_one(answer.backends[i], answer.identity.backends[i], registry, plugin, &fresh);
  }
  if (fresh != 0) {
    plugin->outcome = Outcome::kRegistered;  // also with findings about those that were not
  } else if (plugin->outcome == Outcome::kCandidate) {
    plugin->outcome = Outcome::kAlreadyRegistered;
  }
}

// Path of the library behind a handle, as the dynamic loader knows it.
std::string path_of_handle(void* handle) {
  link_map* map = nullptr;
  return ::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr
             ? map->l_name
             : "";
}

// The entry of this very library. dlsym also looks into the libraries that it depends on.
EtbkPluginEntry find_entry(void* handle, std::string* found_in) {
  found_in->clear();
  void* const symbol = ::dlsym(handle, ETBK_PLUGIN_ENTRY_SYMBOL);
  if (symbol == nullptr) {
    return nullptr;
  }
  Dl_info where;
  const std::string path = path_of_handle(handle);
  if (::dladdr(symbol, &where) != 0 && where.dli_fname != nullptr && path != where.dli_fname) {
    *found_in = where.dli_fname;
    return nullptr;
  }
  return reinterpret_cast<EtbkPluginEntry>(symbol);
}

void load_library(const Inspection& inspection, int mode, const std::string& name,
                  Registry* registry, Plugin* plugin) {
  ::dlerror();
  void* const handle = ::dlopen(name.c_str(), mode);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    refuse(plugin, findings::load_failed(plugin->path, reason == nullptr ? "no reason" : reason));
    return;
  }
  if (const Entered* known = registry->find_handle(handle)) {
    repeat(*known, plugin);
    return;
  }
  std::string found_in;
  const EtbkPluginEntry entry = find_entry(handle, &found_in);
  if (entry == nullptr) {
    refuse(plugin, findings::entry_missing(plugin->path, found_in));
    return;
  }
  enter(entry, true, registry, plugin);
  registry->add({entry, handle, inspection.file, true, *plugin});
}

}  // namespace

HostAbi host_abi() {
  const EtbkHostApi& api = *adapter::host_api();
  HostAbi host;
  host.major = api.abi_major;
  host.minor = api.abi_minor;
  host.minor_oldest = api.abi_major == 0 ? ETBK_ABI_MINOR_OLDEST : 0;
  host.name = std::string(api.name.data, api.name.size) + " " +
              std::string(api.runtime_version.data, api.runtime_version.size);
  return host;
}

Plugin load(Candidate candidate, Registry* registry) {
  Plugin& plugin = candidate.plugin;
  if (plugin.outcome == Outcome::kCandidate) {
    if (const Entered* known = registry->find_file(candidate.inspection.file)) {
      repeat(*known, &plugin);
    } else if (!refuse_duplicates(*registry, &plugin)) {
      load_library(candidate.inspection, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, plugin.path,
                   registry, &plugin);
    }
  }
  registry->record(plugin);
  return plugin;
}

Plugin load_linked(const std::string& file_name, Registry* registry) {
  constexpr int kMode = RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE;
  Candidate candidate;
  void* const handle = ::dlopen(file_name.c_str(), kMode);
  if (handle == nullptr) {
    candidate.plugin.path = file_name;
    refuse(&candidate.plugin, findings::not_linked(file_name));
  } else {
    candidate = judge_path(path_of_handle(handle), Origin::kLinked, false, host_abi());
  }
  Plugin& plugin = candidate.plugin;
  plugin.origin = Origin::kLinked;
  if (plugin.outcome == Outcome::kCandidate) {
    if (const Entered* known = registry->find_file(candidate.inspection.file)) {
      repeat(*known, &plugin);
    } else if (!refuse_duplicates(*registry, &plugin)) {
      load_library(candidate.inspection, kMode, file_name, registry, &plugin);
    }
  }
  registry->record(plugin);
  return plugin;
}

Plugin load_static(const EtbkStaticPlugin& row, Registry* registry) {
  Plugin plugin;
  plugin.origin = Origin::kLinked;
  plugin.name = row.name;
  if (const Entered* known = registry->find_entry(row.entry)) {
    repeat(*known, &plugin);
  } else {
    enter(row.entry, false, registry, &plugin);
    registry->add({row.entry, nullptr, {}, false, plugin});
  }
  registry->record(plugin);
  return plugin;
}

}  // namespace etbk::host
