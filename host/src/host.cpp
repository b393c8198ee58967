// The C++ API: one lock, one path behind every way in.
// Licence: BSD-3-Clause.
#include <executorch_backend_kit/host.hpp>

#include <cstdio>

#include "adapter.hpp"
#include "audit.hpp"
#include "discovery.hpp"
#include "loader.hpp"
#include "registry.hpp"
#include "surroundings.hpp"

namespace etbk::host {
namespace {

using Guard = std::lock_guard<std::recursive_mutex>;

// One line per candidate; a line is written with one call, so that threads do not mix.
void log(const Plugin& plugin) {
  std::string line = "etbk: " + std::string(name_of(plugin.outcome)) + ": " +
                     (plugin.name.empty() ? "?" : plugin.name);
  if (!plugin.path.empty()) {
    line += " " + plugin.path;
  }
  if (!plugin.manifest.empty()) {
    line += " (manifest " + plugin.manifest + ")";
  }
  for (const std::string& id : plugin.backends) {
    line += " " + id;
  }
  for (const Finding& finding : plugin.findings) {
    line += " [" + finding.code + "] " + finding.message;
  }
  line += "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void log(const std::vector<Plugin>& plugins, const Surroundings& surroundings) {
  if (!surroundings.log) {
    return;
  }
  for (const Plugin& plugin : plugins) {
    log(plugin);
  }
}

}  // namespace

std::vector<Plugin> discover(const DiscoveryOptions& options) {
  const Surroundings surroundings = Surroundings::of_this_process();
  std::vector<Plugin> plugins;
  for (Candidate& candidate : find_candidates(options, surroundings, host_abi())) {
    plugins.push_back(std::move(candidate.plugin));
  }
  log(plugins, surroundings);
  return plugins;
}

Plugin load_plugin(const std::string& path) {
  const Surroundings surroundings = Surroundings::of_this_process();
  Registry& registry = Registry::of_this_process();
  const Guard guard(registry.mutex);
  Plugin plugin =
      load(judge_path(path, Origin::kExplicit, surroundings.privileged, host_abi()), &registry);
  log({plugin}, surroundings);
  return plugin;
}

std::vector<Plugin> load_plugins(const DiscoveryOptions& options) {
  const Surroundings surroundings = Surroundings::of_this_process();
  Registry& registry = Registry::of_this_process();
  const Guard guard(registry.mutex);
  std::vector<Plugin> plugins;
  for (Candidate& candidate : find_candidates(options, surroundings, host_abi())) {
    plugins.push_back(load(std::move(candidate), &registry));
  }
  log(plugins, surroundings);
  return plugins;
}

std::vector<Plugin> register_static_plugins(const EtbkStaticPlugin* table) {
  Registry& registry = Registry::of_this_process();
  const Guard guard(registry.mutex);
  std::vector<Plugin> plugins;
  for (const EtbkStaticPlugin* row = table; row->name != nullptr; ++row) {
    plugins.push_back(load_static(*row, &registry));
  }
  log(plugins, Surroundings::of_this_process());
  return plugins;
}

Plugin register_linked_library(const std::string& file_name) {
  Registry& registry = Registry::of_this_process();
  const Guard guard(registry.mutex);
  Plugin plugin = load_linked(file_name, &registry);
  log({plugin}, Surroundings::of_this_process());
  return plugin;
}

std::vector<Plugin> plugins() {
  Registry& registry = Registry::of_this_process();
  const Guard guard(registry.mutex);
  return registry.history();
}

std::vector<std::string> registered_backends() {
  const Guard guard(Registry::of_this_process().mutex);
  return names_in_runtime();
}

std::vector<Finding> audit(const std::vector<std::string>& names) {
  Registry& registry = Registry::of_this_process();
  const Guard guard(registry.mutex);
  std::vector<Finding> found = compare_lists(names, registry.registered_ids());
  for (Finding& finding : audit()) {
    found.push_back(std::move(finding));
  }
  return found;
}

std::vector<Finding> audit() {
  const Guard guard(Registry::of_this_process().mutex);
  std::vector<Finding> found;
  const std::string runtime = module_of_runtime();
  for (const std::string& module : modules_with_own_runtime()) {
    found.push_back(findings::second_runtime(module, runtime));
  }
  return found;
}

std::string last_error() { return adapter::last_error(); }

std::vector<ErrorRecord> recent_errors() {
  adapter::ErrorRecord raw[64];
  const std::size_t count = adapter::recent_errors(raw, 64);
  std::vector<ErrorRecord> records;
  for (std::size_t i = 0; i < count; ++i) {
    records.push_back({raw[i].sequence, raw[i].backend, raw[i].stage, raw[i].status, raw[i].text});
  }
  return records;
}

std::string runtime_version() {
  const EtbkString version = adapter::host_api()->runtime_version;
  return std::string(version.data, version.size);
}

std::string runtime_library() { return module_of_runtime(); }

// The adapter's list of backends may grow meanwhile: options wait for a registration to end.
EtbkStatus set_option(const std::string& backend, const EtbkOption& option) {
  const Guard guard(Registry::of_this_process().mutex);
  return adapter::set_option(backend.c_str(), &option);
}

EtbkStatus get_option(const std::string& backend, EtbkOption* option) {
  const Guard guard(Registry::of_this_process().mutex);
  return adapter::get_option(backend.c_str(), option);
}

Counters counters() {
  const adapter::Counters raw = adapter::counters();
  return {raw.executes, raw.descriptor_refreshes, raw.heap_allocations};
}

}  // namespace etbk::host
