// ExecuTorch Backend Kit: the host, seen from an application.
//
// Finds backend plugins, checks them, registers them with ExecuTorch, and says what became of each.
// Programs are then loaded and run with ExecuTorch's own API. No ExecuTorch type appears here.
//
// Threads: every function may be called from any thread; registration is serialized inside.
// Errors: functions that judge plugins do not fail, they report: a bad plugin is a finding.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>

#include <string>
#include <vector>

namespace etbk::host {

enum class Severity { kInfo, kWarning, kError };

// One observation, for people: a stable code, one sentence, what was seen, what to do.
struct Finding {
  std::string code;  // "PLUGIN-ABI-TOO-NEW"; the list is host/include/.../finding_codes.hpp
  Severity severity = Severity::kError;
  std::string message;
  std::string evidence;
  std::string fix;
};

// Where a candidate came from: named by the application, by an environment variable, found in a
// manifest directory, named by an installer's index (Python entry points), linked into the program.
enum class Origin { kExplicit, kEnvironment, kManifest, kInstalled, kLinked };

// What became of a candidate. kCandidate: seen by discovery, nothing of it was run.
enum class Outcome { kCandidate, kRegistered, kAlreadyRegistered, kRefused, kDisabled };

// The word for an outcome in reports: "candidate", "registered", "already_registered", "refused",
// "disabled".
const char* name_of(Outcome outcome);

// What the registered backend `id` says of the blobs it takes.
struct BlobFormats {
  std::string id;
  unsigned oldest = 0;  // formats it reads
  unsigned newest = 0;  // 0: it names no limit
  bool judges = false;  // it also looks at each blob itself (check_blob)
};

// A candidate plugin and its fate.
struct Plugin {
  std::string name;
  std::string path;      // of the library; empty for a static one
  std::string manifest;  // path of the manifest that named it; may be empty
  Origin origin = Origin::kExplicit;
  Outcome outcome = Outcome::kCandidate;
  std::string vendor;
  std::string version;
  unsigned abi_major = 0;
  unsigned abi_minor = 0;                 // the plugin was compiled with
  unsigned abi_minor_needed = 0;          // of the host
  std::vector<std::string> backends;      // ids
  std::vector<BlobFormats> blob_formats;  // of the backends that were registered
  std::vector<Finding> findings;
};

// What discovery looks at. The defaults are what an application wants. A path is a library or a
// manifest (it ends with ".json"). Environment variables act on top:
//   ETBK_PLUGINS      ':'-separated libraries, manifests or directories of manifests, in place of
//                     everything that is searched for (`libraries` stay)
//   ETBK_ADD_PLUGINS  the same, in addition and before what is searched for
//   ETBK_SELECT       comma-separated patterns (*, ?, [a-z]): only plugins whose name, or the id of
//                     one of whose backends, matches
//   ETBK_DISABLE      likewise: no plugin that matches
//   ETBK_LOG=debug    one line per candidate on standard error
// A privileged process (setuid, file capabilities) ignores them all, and every file that others
// than root and the process's own user can change.
struct DiscoveryOptions {
  std::vector<std::string> libraries;             // named by the application, first in order
  std::vector<std::string> manifest_directories;  // searched before the standard ones
  std::vector<std::string> installed;             // from an installer's index, last in order
  bool standard_directories = true;
  bool environment = true;
};

// Reads manifests and library notes. Runs no vendor code.
std::vector<Plugin> discover(const DiscoveryOptions& options = {});

// Loads one library, named by itself or by its manifest, and registers its backends. Idempotent: a
// second call, also by another path to the same file, answers kAlreadyRegistered. Environment
// variables do not apply: the application asked for this one. May block: it runs the plugin's
// constructors and entry, which do not touch the device by contract. What cannot be contained: a
// constructor that crashes takes the process with it.
Plugin load_plugin(const std::string& path);

// discover(), then loads and registers each candidate that is not disabled.
std::vector<Plugin> load_plugins(const DiscoveryOptions& options = {});

// Registers plugins that are linked into the program. `table` ends with a null name.
std::vector<Plugin> register_static_plugins(const EtbkStaticPlugin* table);

// Registers a shared plugin that is in the program's link line, by its file name ("libacme.so").
Plugin register_linked_library(const std::string& file_name);

// Everything judged so far in this process, in order; each library once, with its latest fate.
std::vector<Plugin> plugins();

// The backends that the runtime this host is bound to really lists, in slot order.
std::vector<std::string> registered_backends();

// Compares `names`, the list read by the application's own code (or by Python), with what was
// registered through this host: a difference means two registries in one process.
std::vector<Finding> audit(const std::vector<std::string>& names);

// The part of it that needs no list: modules in this process that carry a registry of their own.
std::vector<Finding> audit();

// The sentence behind the last failed call on this thread; empty if there was none. ExecuTorch
// itself keeps only a number.
std::string last_error();

// One failure that went through the host.
struct ErrorRecord {
  unsigned long long sequence = 0;  // grows by one per failure in the process
  std::string backend;              // id
  std::string stage;                // "is_available", "check_blob", "init", "execute", "option"
  EtbkStatus status = ETBK_STATUS_OK;
  std::string text;
};

// The last failures of the process, oldest first; at most 64 are kept.
std::vector<ErrorRecord> recent_errors();

// Release of ExecuTorch that this host was compiled for, e.g. "1.5.1".
std::string runtime_version();

// File of the module that owns the registry this host is bound to: libexecutorch.so, or the program
// itself where the runtime is linked statically.
std::string runtime_library();

// Sets or gets a process-wide option of a registered backend. The status is the backend's; the
// text is in last_error(). A text got is valid until the next call on the same thread.
EtbkStatus set_option(const std::string& backend, const EtbkOption& option);
EtbkStatus get_option(const std::string& backend, EtbkOption* option);

// Counters of the boundary, for tests and diagnosis: in steady state only `executes` grows.
struct Counters {
  unsigned long long executes = 0;
  unsigned long long descriptor_refreshes = 0;  // executes that took the slow path
  unsigned long long heap_allocations = 0;      // by execute, temporary memory fallback included
};
Counters counters();

}  // namespace etbk::host
