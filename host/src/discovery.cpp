// From places to candidates.
// Licence: BSD-3-Clause.
#include "discovery.hpp"

#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "manifest_reader.hpp"

namespace etbk::host {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_manifest(const std::string& path) { return ends_with(path, ".json"); }

void refuse(Plugin* plugin, Finding finding) {
  if (finding.severity == Severity::kError) {
    plugin->outcome = Outcome::kRefused;
  }
  plugin->findings.push_back(std::move(finding));
}

void set_off(Plugin* plugin, Finding finding) {
  plugin->outcome = Outcome::kDisabled;
  plugin->findings.push_back(std::move(finding));
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

// Reads the manifest of `plugin`; false, with a finding, if it cannot be used.
bool read_manifest(Plugin* plugin, PluginIdentity* identity) {
  const FileSource file(plugin->manifest.c_str());
  if (file.status() != FileSource::Status::kOpen) {
    refuse(plugin, findings::manifest_unreadable(plugin->manifest,
                                                 file.status() == FileSource::Status::kNotAFile
                                                     ? "it is not a regular file"
                                                     : std::strerror(file.system_error())));
    return false;
  }
  if (file.size() > kMaxManifestBytes) {
    refuse(plugin, findings::manifest_invalid(plugin->manifest,
                                              "it has " + std::to_string(file.size()) + " bytes"));
    return false;
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  if (!file.read(0, &text[0], text.size())) {
    refuse(plugin, findings::manifest_unreadable(plugin->manifest, "reading it failed"));
    return false;
  }
  Manifest manifest;
  const std::string problem = parse_manifest(text, &manifest);
  if (!problem.empty()) {
    refuse(plugin, findings::manifest_invalid(plugin->manifest, problem));
    return false;
  }
  *identity = manifest.identity;
  take_identity(manifest.identity, plugin);
  plugin->path = plugin->manifest.substr(0, plugin->manifest.rfind('/') + 1) + manifest.library;
  return true;
}

// Replaces `path` by what it resolves to, so that what is checked is what will be loaded.
void insist_on_trust(std::string* path, Plugin* plugin) {
  const std::string resolved = resolved_path(*path);
  if (resolved.empty()) {
    return;  // does not exist: reported by whoever reads it
  }
  *path = resolved;
  const std::string reason = why_untrusted(resolved);
  if (!reason.empty()) {
    refuse(plugin, findings::untrusted_path(resolved, reason));
  }
}

// A candidate whose file was not read yet.
struct Lead {
  Plugin plugin;
  PluginIdentity described;  // by the manifest; valid if has_manifest
  bool has_manifest = false;
  bool read = false;  // the library was read, into `inspection`
  Inspection inspection;
};

Lead follow(const std::string& path, Origin origin) {
  Lead lead;
  lead.plugin.origin = origin;
  if (is_manifest(path)) {
    lead.plugin.manifest = absolute_path(path);
    lead.has_manifest = read_manifest(&lead.plugin, &lead.described);
  } else {
    lead.plugin.path = absolute_path(path);
  }
  return lead;
}

void read_lead(bool privileged, const HostAbi& host, Lead* lead) {
  Plugin& plugin = lead->plugin;
  if (plugin.outcome != Outcome::kCandidate || lead->read) {
    return;
  }
  lead->read = true;
  if (privileged) {
    insist_on_trust(&plugin.path, &plugin);
    if (!plugin.manifest.empty()) {
      insist_on_trust(&plugin.manifest, &plugin);
    }
  }
  lead->inspection = inspect_library(plugin.path, host);
  for (const Finding& finding : lead->inspection.findings) {
    refuse(&plugin, finding);
  }
  if (!lead->inspection.has_identity) {
    return;
  }
  take_identity(lead->inspection.identity, &plugin);
  if (lead->has_manifest) {
    const Difference difference = compare_identities(lead->described, lead->inspection.identity);
    if (!difference.text.empty()) {
      refuse(&plugin, findings::manifest_disagrees(plugin.manifest, plugin.path, difference));
    }
  }
}

// The first of `patterns` that matches the plugin's name or one of its ids, and what it matched.
bool match(const std::string& patterns, const Plugin& plugin, std::string* pattern,
           std::string* matched) {
  std::vector<std::string> names = plugin.backends;
  names.insert(names.begin(), plugin.name);
  for (const std::string& item : split(patterns, ',')) {
    for (const std::string& name : names) {
      if (::fnmatch(item.c_str(), name.c_str(), 0) == 0) {
        *pattern = item;
        *matched = name;
        return true;
      }
    }
  }
  return false;
}

std::string label(const Plugin& plugin) { return plugin.name.empty() ? plugin.path : plugin.name; }

void apply_patterns(const Surroundings& surroundings, Plugin* plugin) {
  if (plugin->outcome != Outcome::kCandidate) {
    return;
  }
  std::string pattern;
  std::string matched;
  if (match(surroundings.disable, *plugin, &pattern, &matched)) {
    set_off(plugin, findings::disabled(label(*plugin), "ETBK_DISABLE", pattern, matched));
  } else if (!surroundings.select.empty() &&
             !match(surroundings.select, *plugin, &pattern, &matched)) {
    set_off(plugin, findings::disabled(label(*plugin), "ETBK_SELECT", surroundings.select, ""));
  }
}

// The manifests in a directory, by name. A directory that does not exist has none.
std::vector<std::string> manifests_in(const std::string& directory, int* system_error) {
  std::vector<std::string> found;
  *system_error = 0;
  DIR* const stream = ::opendir(directory.c_str());
  if (stream == nullptr) {
    *system_error = errno;
    return found;
  }
  while (const dirent* entry = ::readdir(stream)) {
    if (is_manifest(entry->d_name) && entry->d_name[0] != '.') {
      found.push_back(directory + "/" + entry->d_name);
    }
  }
  ::closedir(stream);
  std::sort(found.begin(), found.end());
  return found;
}

bool is_directory(const std::string& path) {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

class Search {
 public:
  Search(const DiscoveryOptions& options, const Surroundings& surroundings, const HostAbi& host)
      : options_(options), surroundings_(surroundings), host_(host) {}

  std::vector<Candidate> run() {
    for (const std::string& path : options_.libraries) {
      add(path, Origin::kExplicit);
    }
    if (options_.environment) {
      add_listed(surroundings_.add_plugins);
      add_listed(surroundings_.plugins);
      replaced_ = !surroundings_.plugins.empty();
    }
    for (const std::string& directory : options_.manifest_directories) {
      add_directory(absolute_path(directory), Origin::kManifest, true);
    }
    if (options_.standard_directories) {
      for (const std::string& directory : surroundings_.standard_directories) {
        add_directory(directory, Origin::kManifest, false);
      }
    }
    for (const std::string& path : options_.installed) {
      add(path, Origin::kInstalled);
    }
    return std::move(candidates_);
  }

 private:
  // An item of ETBK_PLUGINS or ETBK_ADD_PLUGINS.
  void add_listed(const std::string& list) {
    for (const std::string& item : split(list, ':')) {
      if (is_directory(item)) {
        add_directory(absolute_path(item), Origin::kEnvironment, true);
      } else {
        add(item, Origin::kEnvironment);
      }
    }
  }

  // `named`: somebody asked for this directory, so that it must be there.
  void add_directory(const std::string& directory, Origin origin, bool named) {
    int system_error = 0;
    for (const std::string& manifest : manifests_in(directory, &system_error)) {
      add(manifest, origin);
    }
    if (system_error != 0 && (named || (system_error != ENOENT && system_error != ENOTDIR))) {
      Candidate candidate;
      candidate.plugin.origin = origin;
      candidate.plugin.manifest = directory;
      refuse(&candidate.plugin,
             findings::manifest_unreadable(directory, std::strerror(system_error)));
      candidates_.push_back(std::move(candidate));
    }
  }

  void add(const std::string& path, Origin origin) {
    Lead lead = follow(path, origin);
    if (replaced_ && (origin == Origin::kManifest || origin == Origin::kInstalled)) {
      if (lead.plugin.outcome == Outcome::kCandidate) {
        set_off(&lead.plugin, findings::replaced(path, "ETBK_PLUGINS"));
      }
    } else {
      // A manifest is enough to switch a plugin off; a bare library must be read for its name.
      if (!lead.has_manifest) {
        read_lead(surroundings_.privileged, host_, &lead);
      }
      if (options_.environment) {
        apply_patterns(surroundings_, &lead.plugin);
      }
      read_lead(surroundings_.privileged, host_, &lead);
    }
    note_same_file(&lead);
    candidates_.push_back({std::move(lead.plugin), std::move(lead.inspection)});
  }

  void note_same_file(Lead* lead) const {
    if (!lead->inspection.exists) {
      return;
    }
    for (const Candidate& earlier : candidates_) {
      if (earlier.inspection.exists && earlier.inspection.file == lead->inspection.file) {
        lead->plugin.findings.push_back(
            findings::same_file(lead->plugin.path, earlier.plugin.path));
        return;
      }
    }
  }

  const DiscoveryOptions& options_;
  const Surroundings& surroundings_;
  const HostAbi& host_;
  bool replaced_ = false;
  std::vector<Candidate> candidates_;
};

}  // namespace

Candidate judge_path(const std::string& path, Origin origin, bool privileged, const HostAbi& host) {
  Lead lead = follow(path, origin);
  read_lead(privileged, host, &lead);
  return {std::move(lead.plugin), std::move(lead.inspection)};
}

std::vector<Candidate> find_candidates(const DiscoveryOptions& options,
                                       const Surroundings& surroundings, const HostAbi& host) {
  return Search(options, surroundings, host).run();
}

}  // namespace etbk::host
