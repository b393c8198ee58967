// What this host has loaded and registered in this process, and the one lock over it.
//
// Never destroyed: plugins are never unloaded and may call back while the process ends.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/host.hpp>
#include <mutex>
#include <string>
#include <vector>

#include "byte_source.hpp"

namespace etbk::host {

// A plugin whose entry was called. It is called once: the answer is kept, good or bad.
struct Entered {
  EtbkPluginEntry entry = nullptr;
  void* handle = nullptr;  // of the dynamic loader; null for a static plugin
  FileIdentity file;       // valid if has_file
  bool has_file = false;
  Plugin plugin;  // as judged then
};

class Registry {
 public:
  static Registry& of_this_process();

  // Held over every load and registration. Recursive: a plugin's constructor may load another.
  std::recursive_mutex mutex;

  const Entered* find_file(const FileIdentity& file) const;
  const Entered* find_handle(const void* handle) const;
  const Entered* find_entry(EtbkPluginEntry entry) const;
  // The plugin that registered `id` through this host; null if none did.
  const Plugin* find_holder(const std::string& id) const;

  void add(Entered entered);
  void add_holder(const std::string& id, const Plugin& plugin);
  // Keeps the latest fate of each library, in the order in which they were first seen.
  void record(const Plugin& plugin);

  const std::vector<Plugin>& history() const { return history_; }
  std::vector<std::string> registered_ids() const;

 private:
  struct Holder {
    std::string id;
    Plugin plugin;
  };
  std::vector<Entered> entered_;
  std::vector<Holder> holders_;
  std::vector<Plugin> history_;
};

}  // namespace etbk::host
