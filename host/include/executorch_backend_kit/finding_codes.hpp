// The codes of all findings of the host, once: name, code as people see it, meaning in one line.
//
// X(NAME, "CODE", "meaning"). The sentences with their evidence and cure are made in
// host/src/finding_texts.cpp. A code is never renamed and never reused.
// Licence: BSD-3-Clause.
#pragma once

// clang-format off
#define ETBK_FINDING_LIST(X)                                                                                  \
  X(PLUGIN_FILE_MISSING,     "PLUGIN-FILE-MISSING",     "the plugin file does not exist")                     \
  X(PLUGIN_FILE_UNREADABLE,  "PLUGIN-FILE-UNREADABLE",  "the plugin file exists but cannot be read")          \
  X(PLUGIN_NOT_A_LIBRARY,    "PLUGIN-NOT-A-LIBRARY",    "the file is not a shared library")                   \
  X(PLUGIN_DAMAGED,          "PLUGIN-DAMAGED",          "the shared library is truncated or damaged")         \
  X(PLUGIN_ARCHITECTURE,     "PLUGIN-ARCHITECTURE",     "the plugin is built for another kind of machine")    \
  X(PLUGIN_NOTE_MISSING,     "PLUGIN-NOTE-MISSING",     "the library carries no plugin note")                 \
  X(PLUGIN_NOTE_INVALID,     "PLUGIN-NOTE-INVALID",     "the plugin note cannot be understood")               \
  X(PLUGIN_NOTE_DISAGREES,   "PLUGIN-NOTE-DISAGREES",   "the plugin's entry says something else than its note") \
  X(PLUGIN_ABI_TOO_OLD,      "PLUGIN-ABI-TOO-OLD",      "the plugin is too old for this host")                \
  X(PLUGIN_ABI_TOO_NEW,      "PLUGIN-ABI-TOO-NEW",      "the plugin is too new for this host")                \
  X(PLUGIN_LOAD_FAILED,      "PLUGIN-LOAD-FAILED",      "the dynamic loader refused the plugin")              \
  X(PLUGIN_NOT_LINKED,       "PLUGIN-NOT-LINKED",       "a plugin from the link line is not in the process")  \
  X(PLUGIN_ENTRY_MISSING,    "PLUGIN-ENTRY-MISSING",    "the plugin does not export its entry symbol")        \
  X(PLUGIN_ENTRY_FAILED,     "PLUGIN-ENTRY-FAILED",     "the plugin's entry reported a failure or threw")     \
  X(PLUGIN_ENTRY_INVALID,    "PLUGIN-ENTRY-INVALID",    "the plugin's entry returned unusable tables")        \
  X(PLUGIN_DISABLED,         "PLUGIN-DISABLED",         "an environment variable switched the plugin off")    \
  X(PLUGIN_SAME_FILE,        "PLUGIN-SAME-FILE",        "the same library was found before by another path")  \
  X(PLUGIN_UNTRUSTED_PATH,   "PLUGIN-UNTRUSTED-PATH",   "a privileged process ignores paths that others can write") \
  X(MANIFEST_UNREADABLE,     "MANIFEST-UNREADABLE",     "the manifest cannot be read")                        \
  X(MANIFEST_INVALID,        "MANIFEST-INVALID",        "the manifest is not a valid etbk.manifest/1 document") \
  X(MANIFEST_DISAGREES,      "MANIFEST-DISAGREES",      "the manifest says something else than the library")  \
  X(BACKEND_DUPLICATE_ID,    "BACKEND-DUPLICATE-ID",    "the backend id is already taken in this process")    \
  X(BACKEND_REJECTED,        "BACKEND-REJECTED",        "ExecuTorch refused to register the backend")         \
  X(REGISTRY_FULL,           "REGISTRY-FULL",           "the table of backends has no free slot")             \
  X(REGISTRY_PRIVATE,        "REGISTRY-PRIVATE",        "the registry used is not the one the application reads") \
  X(REGISTRY_SECOND_RUNTIME, "REGISTRY-SECOND-RUNTIME", "the process holds a second copy of the runtime")     \
  X(RUNTIME_MISSING,         "RUNTIME-MISSING",         "ExecuTorch is not installed or lacks its runtime library") \
  X(RUNTIME_UNSUPPORTED,     "RUNTIME-UNSUPPORTED",     "no host was built for this release of ExecuTorch")   \
  X(HOST_LIBRARY_MISSING,    "HOST-LIBRARY-MISSING",    "the prebuilt host library is not installed")         \
  X(HOST_LIBRARY_FAILED,     "HOST-LIBRARY-FAILED",     "the prebuilt host library could not be loaded")      \
  X(HOST_REQUEST_INVALID,    "HOST-REQUEST-INVALID",    "a request to the host is not what its schema says") \
  X(OPTION_REFUSED,          "OPTION-REFUSED",          "a backend did not take or tell an option")
// clang-format on

namespace etbk::host {

enum class FindingCode {
#define ETBK_FINDING_ENUMERATOR(name, code, text) name,
  ETBK_FINDING_LIST(ETBK_FINDING_ENUMERATOR)
#undef ETBK_FINDING_ENUMERATOR
};

// "PLUGIN-DAMAGED". Static storage.
constexpr const char* code_of(FindingCode code) {
  switch (code) {
#define ETBK_FINDING_CASE(name, code, text) \
  case FindingCode::name:                   \
    return code;
    ETBK_FINDING_LIST(ETBK_FINDING_CASE)
#undef ETBK_FINDING_CASE
  }
  return "";
}

// The meaning in one line. Static storage.
constexpr const char* meaning_of(FindingCode code) {
  switch (code) {
#define ETBK_FINDING_CASE(name, code, text) \
  case FindingCode::name:                   \
    return text;
    ETBK_FINDING_LIST(ETBK_FINDING_CASE)
#undef ETBK_FINDING_CASE
  }
  return "";
}

}  // namespace etbk::host
