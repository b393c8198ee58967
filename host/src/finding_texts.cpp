// The sentences.
// Licence: BSD-3-Clause.
#include "finding_texts.hpp"

#include <cstring>

namespace etbk::host::findings {
namespace {

// Names and texts come from files that may be hostile: nothing of them may steer a terminal.
std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      c = '?';
    }
  }
  return text;
}

Finding make(FindingCode code, Severity severity, std::string message, std::string evidence,
             std::string fix) {
  return {code_of(code), severity, printable(std::move(message)), printable(std::move(evidence)),
          printable(std::move(fix))};
}

Finding error(FindingCode code, std::string message, std::string evidence, std::string fix) {
  return make(code, Severity::kError, std::move(message), std::move(evidence), std::move(fix));
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string version(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string abi_evidence(const PluginIdentity& identity, const HostAbi& host) {
  return "plugin_abi=" + version(identity.abi_major, identity.abi_minor) +
         "; plugin_needs=" + version(identity.abi_major, identity.abi_minor_needed) +
         "; host_abi=" + version(host.major, host.minor) +
         "; host_accepts_from=" + version(host.major, host.minor_oldest) + "; host=" + host.name;
}

const char* status_text(EtbkStatus status) {
  switch (status) {
#define ETBK_STATUS_CASE(name, value, text) \
  case value:                               \
    return text;
    ETBK_STATUS_LIST(ETBK_STATUS_CASE)
#undef ETBK_STATUS_CASE
    default:
      return "a status this host does not know";
  }
}

}  // namespace

Finding file_missing(const std::string& path) {
  return error(FindingCode::PLUGIN_FILE_MISSING,
               "The plugin file " + quoted(path) + " does not exist.", "path=" + path,
               "Check the path, or install the package that brings the plugin.");
}

Finding file_unreadable(const std::string& path, int system_error) {
  return error(
      FindingCode::PLUGIN_FILE_UNREADABLE,
      "The plugin file " + quoted(path) + " cannot be read: " + std::strerror(system_error) + ".",
      "path=" + path + "; errno=" + std::to_string(system_error),
      "Give this user read permission for the file and the folders above it.");
}

Finding not_a_file(const std::string& path) {
  return error(FindingCode::PLUGIN_NOT_A_LIBRARY, quoted(path) + " is not a regular file.",
               "path=" + path, "Name the plugin's library (.so) or its manifest (.json).");
}

Finding not_a_library(const std::string& path, const std::string& problem) {
  return error(FindingCode::PLUGIN_NOT_A_LIBRARY,
               quoted(path) + " is not a shared library: " + problem + ".", "path=" + path,
               "Name the plugin's shared library (.so) or its manifest (.json).");
}

Finding damaged(const std::string& path, const std::string& problem) {
  return error(FindingCode::PLUGIN_DAMAGED,
               "The library " + quoted(path) + " is truncated or damaged: " + problem + ".",
               "path=" + path, "Copy or install the plugin again.");
}

Finding wrong_architecture(const std::string& path, const Architecture& plugin) {
  const std::string found = to_text(plugin);
  const std::string expected = to_text(own_architecture());
  return error(FindingCode::PLUGIN_ARCHITECTURE,
               "The plugin " + quoted(path) + " is built for " + found + "; this process runs on " +
                   expected + ".",
               "path=" + path + "; found=" + found + "; expected=" + expected,
               "Install the plugin's build for " + expected + ".");
}

Finding note_missing(const std::string& path) {
  return error(FindingCode::PLUGIN_NOTE_MISSING,
               "The library " + quoted(path) +
                   " carries no plugin note: it is not a plugin of the Backend Kit, or the note "
                   "was removed from it.",
               "path=" + path + "; section=.note.etbk",
               "Build the plugin with etbk_add_backend or ETBK_PLUGIN_NOTE, and do not strip the "
               "section .note.etbk. A backend that registers itself with ExecuTorch is loaded "
               "with dlopen, not with this host.");
}

Finding notes_several(const std::string& path, std::size_t count) {
  return error(FindingCode::PLUGIN_NOTE_INVALID,
               "The library " + quoted(path) + " carries " + std::to_string(count) +
                   " plugin notes; a plugin has one.",
               "path=" + path + "; notes=" + std::to_string(count),
               "Use ETBK_PLUGIN_NOTE once per plugin; do not link the static form of another "
               "plugin into it.");
}

Finding note_invalid(const std::string& path, const std::string& problem) {
  return error(FindingCode::PLUGIN_NOTE_INVALID,
               "The plugin note of " + quoted(path) + " cannot be understood: " + problem + ".",
               "path=" + path, "Rebuild the plugin; etbk-note FILE shows what its note says.");
}

Finding note_disagrees(const std::string& path, const std::string& difference) {
  return error(FindingCode::PLUGIN_NOTE_DISAGREES,
               "The plugin " + quoted(path) +
                   " says one thing in its note and another through its "
                   "entry (note / entry): " +
                   difference + ".",
               "path=" + path + "; difference=" + difference,
               "The vendor rebuilds the plugin with a note that matches its table of backends.");
}

Finding abi_too_new(const std::string& plugin, const PluginIdentity& identity,
                    const HostAbi& host) {
  const std::string needed = version(identity.abi_major, identity.abi_minor_needed);
  return error(FindingCode::PLUGIN_ABI_TOO_NEW,
               "The plugin " + quoted(plugin) + " needs plugin ABI " + needed +
                   " or newer, and this host (" + host.name + ") speaks " +
                   version(host.major, host.minor) + ": the host is too old for the plugin.",
               abi_evidence(identity, host),
               "Update executorch-backend-kit to a release whose plugin ABI is at least " + needed +
                   ", or install an older release of the plugin.");
}

Finding abi_too_old(const std::string& plugin, const PluginIdentity& identity,
                    const HostAbi& host) {
  const std::string built = version(identity.abi_major, identity.abi_minor);
  return error(FindingCode::PLUGIN_ABI_TOO_OLD,
               "The plugin " + quoted(plugin) + " was built for plugin ABI " + built +
                   ", and this host (" + host.name + ") accepts " +
                   version(host.major, host.minor_oldest) + " to " +
                   version(host.major, host.minor) + ": the plugin is too old for the host.",
               abi_evidence(identity, host),
               "Install a newer release of the plugin, or an executorch-backend-kit whose plugin "
               "ABI is " +
                   built + ".");
}

Finding load_failed(const std::string& path, const std::string& loader_error) {
  std::string fix = "Read the loader's message; LD_DEBUG=libs shows where it looked.";
  if (loader_error.find("undefined symbol") != std::string::npos) {
    fix =
        "The plugin was linked against something that this process does not have. A plugin "
        "needs no symbol of ExecuTorch: the vendor links what it uses into the plugin.";
  } else if (loader_error.find("cannot open shared object file") != std::string::npos) {
    fix = "Install the library that the message names, or add its folder to LD_LIBRARY_PATH.";
  } else if (loader_error.find("version `") != std::string::npos) {
    fix = "The plugin was built on a newer system: install its build for this one.";
  }
  return error(FindingCode::PLUGIN_LOAD_FAILED,
               "The dynamic loader refused the plugin " + quoted(path) + ": " + loader_error + ".",
               "path=" + path + "; loader=" + loader_error, fix);
}

Finding not_linked(const std::string& file_name) {
  return error(FindingCode::PLUGIN_NOT_LINKED,
               "The plugin " + quoted(file_name) +
                   " is in the program's link line but not in the process: the linker dropped it, "
                   "or the program was moved away from it.",
               "library=" + file_name,
               "Link the plugin's CMake target ::Backend, which keeps it, or place '-Wl,"
               "--no-as-needed' before the library; 'ldd PROGRAM' shows what is linked.");
}

Finding entry_missing(const std::string& path, const std::string& found_in) {
  std::string message =
      "The plugin " + quoted(path) + " does not export the symbol " + ETBK_PLUGIN_ENTRY_SYMBOL;
  if (!found_in.empty()) {
    message += "; only " + quoted(found_in) + ", which it depends on, does";
  }
  return error(FindingCode::PLUGIN_ENTRY_MISSING, message + ".",
               "path=" + path + "; symbol=" ETBK_PLUGIN_ENTRY_SYMBOL,
               "The vendor defines the entry with ETBK_PLUGIN_ENTRY and keeps it in the library's "
               "version script; 'nm -D FILE' lists what is exported.");
}

Finding entry_failed(const std::string& plugin, EtbkStatus status, const std::string& text) {
  const std::string what = text.empty() ? status_text(status) : text;
  return error(FindingCode::PLUGIN_ENTRY_FAILED,
               "The entry of the plugin " + quoted(plugin) + " reported a failure: " + what + ".",
               "plugin=" + plugin + "; status=" + std::to_string(status),
               "The reason is the plugin's own; ask its vendor, with this text.");
}

Finding entry_threw(const std::string& plugin, const std::string& what) {
  return error(
      FindingCode::PLUGIN_ENTRY_FAILED,
      "The entry of the plugin " + quoted(plugin) + " threw a C++ exception: " + what + ".",
      "plugin=" + plugin + "; exception=" + what,
      "The vendor keeps exceptions inside the plugin (ABI-032).");
}

Finding entry_invalid(const std::string& plugin, const std::string& problem) {
  return error(
      FindingCode::PLUGIN_ENTRY_INVALID,
      "The entry of the plugin " + quoted(plugin) + " returned unusable tables: " + problem + ".",
      "plugin=" + plugin, "The vendor corrects the tables; nothing was registered.");
}

Finding disabled(const std::string& plugin, const std::string& variable, const std::string& pattern,
                 const std::string& matched) {
  const std::string message =
      matched.empty()
          ? "The plugin " + quoted(plugin) + " is left out: nothing of it matches " + variable +
                "=" + pattern + "."
          : "The plugin " + quoted(plugin) + " is switched off: the pattern " + quoted(pattern) +
                " of " + variable + " matches " + quoted(matched) + ".";
  return make(FindingCode::PLUGIN_DISABLED, Severity::kInfo, message,
              "variable=" + variable + "; pattern=" + pattern,
              "Change or unset " + variable + " to have it.");
}

Finding replaced(const std::string& path, const std::string& variable) {
  return make(
      FindingCode::PLUGIN_DISABLED, Severity::kInfo,
      quoted(path) + " is left out: " + variable + " replaces everything that is searched for.",
      "variable=" + variable + "; path=" + path,
      "Use ETBK_ADD_PLUGINS to add plugins to the ones found, or unset " + variable + ".");
}

Finding same_file(const std::string& path, const std::string& other_path) {
  return make(FindingCode::PLUGIN_SAME_FILE, Severity::kInfo,
              quoted(path) + " is the same file as " + quoted(other_path) + ", found before.",
              "path=" + path + "; other=" + other_path, "");
}

Finding untrusted_path(const std::string& path, const std::string& reason) {
  return error(FindingCode::PLUGIN_UNTRUSTED_PATH,
               "This process is privileged and " + quoted(path) +
                   " can be changed by others: " + reason + ".",
               "path=" + path,
               "Install the plugin where only root can write, or run without privileges.");
}

Finding manifest_unreadable(const std::string& manifest, const std::string& reason) {
  return error(FindingCode::MANIFEST_UNREADABLE,
               "The manifest " + quoted(manifest) + " cannot be read: " + reason + ".",
               "manifest=" + manifest, "Check the path and its permissions.");
}

Finding manifest_invalid(const std::string& manifest, const std::string& problem) {
  return error(FindingCode::MANIFEST_INVALID,
               "The manifest " + quoted(manifest) + " is not valid: " + problem + ".",
               "manifest=" + manifest,
               "Generate it from the library: etbk-note --manifest LIBRARY.");
}

Finding manifest_disagrees(const std::string& manifest, const std::string& library,
                           const Difference& difference) {
  return make(FindingCode::MANIFEST_DISAGREES,
              difference.essential ? Severity::kError : Severity::kWarning,
              "The manifest " + quoted(manifest) + " does not describe the library " +
                  quoted(library) + " (manifest / library): " + difference.text + ".",
              "manifest=" + manifest + "; library=" + library + "; difference=" + difference.text,
              "Generate it from the library: etbk-note --manifest LIBRARY, or install the plugin "
              "again.");
}

Finding duplicate_id(const std::string& plugin, const std::string& id, const std::string& holder,
                     bool same_plugin) {
  if (same_plugin) {
    return make(FindingCode::BACKEND_DUPLICATE_ID, Severity::kWarning,
                "The plugin " + quoted(plugin) + " is another copy of " + quoted(holder) +
                    ", which holds the backend id " + quoted(id) + "; the first one is used.",
                "id=" + id + "; holder=" + holder, "Remove one of the two copies.");
  }
  return error(FindingCode::BACKEND_DUPLICATE_ID,
               "The backend id " + quoted(id) + " of the plugin " + quoted(plugin) +
                   " is already held by " + holder + "; nothing of the plugin was registered.",
               "id=" + id + "; holder=" + holder,
               "Load one of the two: ETBK_DISABLE switches a plugin off by its name.");
}

Finding backend_rejected(const std::string& plugin, const std::string& id, unsigned error_code) {
  return error(FindingCode::BACKEND_REJECTED,
               "ExecuTorch refused to register the backend " + quoted(id) + " of the plugin " +
                   quoted(plugin) + ": error " + std::to_string(error_code) + ", " +
                   status_text(static_cast<EtbkStatus>(error_code)) + ".",
               "id=" + id + "; executorch_error=" + std::to_string(error_code),
               "ExecuTorch's log has the reason.");
}

Finding registry_full(const std::string& plugin, const std::string& id,
                      const std::vector<std::string>& names) {
  return error(FindingCode::REGISTRY_FULL,
               "ExecuTorch's table of backends has no slot left for " + quoted(id) +
                   " of the plugin " + quoted(plugin) + ": it holds " +
                   std::to_string(names.size()) + ".",
               "slots=" + std::to_string(names.size()) + "; names=" + list(names),
               "Leave out backends that this process does not use: ETBK_DISABLE or ETBK_SELECT for "
               "plugins, the link line for built-in ones.");
}

Finding backend_invisible(const std::string& id, const std::string& runtime) {
  return error(FindingCode::REGISTRY_PRIVATE,
               "ExecuTorch accepted the backend " + quoted(id) +
                   ", but the list it reads does not show it: the registry in " + quoted(runtime) +
                   " is not the runtime's own.",
               "id=" + id + "; registry=" + runtime,
               "Link one copy of ExecuTorch into the process, as a shared library.");
}

Finding registry_private(const std::vector<std::string>& missing,
                         const std::vector<std::string>& extra, const std::string& runtime) {
  std::string message;
  if (!missing.empty()) {
    message = "The application does not see " + list(missing) +
              ", registered through this host in the registry of " + quoted(runtime);
  } else {
    message = "The application sees " + list(extra) + ", which the registry of " + quoted(runtime) +
              " does not hold";
  }
  return error(FindingCode::REGISTRY_PRIVATE,
               message + ": the host and the application use two copies of ExecuTorch.",
               "host_registry=" + runtime + "; only_host=" + list(missing) +
                   "; only_application=" + list(extra),
               "Link host and application against one shared libexecutorch, or compile the host "
               "into the module that holds the runtime.");
}

Finding second_runtime(const std::string& module, const std::string& runtime) {
  return make(FindingCode::REGISTRY_SECOND_RUNTIME, Severity::kWarning,
              quoted(module) +
                  " carries its own copy of ExecuTorch's registry, beside the one in " +
                  quoted(runtime) + ": a backend that registers there is invisible to the runtime.",
              "module=" + module + "; registry=" + runtime,
              "Link that module against the shared libexecutorch, or do not load it into this "
              "process.");
}

Finding request_invalid(const std::string& request, const std::string& problem) {
  return error(FindingCode::HOST_REQUEST_INVALID,
               "The request " + quoted(request) + " to the host is not valid: " + problem + ".",
               "request=" + request, "See the description of the C API in host.h.");
}

}  // namespace etbk::host::findings
