// The state of the host in this process.
// Licence: BSD-3-Clause.
#include "registry.hpp"

#include <algorithm>

namespace etbk::host {

Registry& Registry::of_this_process() {
  static Registry* const registry = new Registry;
  return *registry;
}

const Entered* Registry::find_file(const FileIdentity& file) const {
  const auto found = std::find_if(entered_.begin(), entered_.end(), [&](const Entered& entered) {
    return entered.has_file && entered.file == file;
  });
  return found == entered_.end() ? nullptr : &*found;
}

const Entered* Registry::find_handle(const void* handle) const {
  const auto found = std::find_if(entered_.begin(), entered_.end(), [&](const Entered& entered) {
    return entered.handle != nullptr && entered.handle == handle;
  });
  return found == entered_.end() ? nullptr : &*found;
}

const Entered* Registry::find_entry(EtbkPluginEntry entry) const {
  const auto found = std::find_if(entered_.begin(), entered_.end(),
                                  [&](const Entered& entered) { return entered.entry == entry; });
  return found == entered_.end() ? nullptr : &*found;
}

const Plugin* Registry::find_holder(const std::string& id) const {
  const auto found = std::find_if(holders_.begin(), holders_.end(),
                                  [&](const Holder& holder) { return holder.id == id; });
  return found == holders_.end() ? nullptr : &found->plugin;
}

void Registry::add(Entered entered) { entered_.push_back(std::move(entered)); }

void Registry::add_holder(const std::string& id, const Plugin& plugin) {
  if (find_holder(id) == nullptr) {
    holders_.push_back({id, plugin});
  }
}

void Registry::record(const Plugin& plugin) {
  const auto registered_before = [&](const Plugin& known) {
    return known.name == plugin.name && known.backends == plugin.backends &&
           known.outcome != Outcome::kRefused && known.outcome != Outcome::kDisabled;
  };
  const auto same = [&](const Plugin& known) {
    return known.path == plugin.path && known.manifest == plugin.manifest &&
           (!plugin.path.empty() || !plugin.manifest.empty() || known.name == plugin.name);
  };
  if (plugin.outcome == Outcome::kAlreadyRegistered &&
      std::any_of(history_.begin(), history_.end(), registered_before)) {
    return;
  }
  const auto known = std::find_if(history_.begin(), history_.end(), same);
  if (known == history_.end()) {
    history_.push_back(plugin);
  } else {
    *known = plugin;
  }
}

std::vector<std::string> Registry::registered_ids() const {
  std::vector<std::string> ids;
  for (const Holder& holder : holders_) {
    ids.push_back(holder.id);
  }
  return ids;
}

}  // namespace etbk::host
