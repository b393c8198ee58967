// ExecuTorch Backend Kit, author API: writes a backend plugin in C++17 over the C ABI of plugin.h.
//
// A backend is a class: a constructor (or a static `create`) that prepares one delegate call, and
// `execute`. One macro turns such classes into a plugin:
//
//   class AcmeDelegate {
//    public:
//     static constexpr auto info = etbk::Info("AcmeBackend");
//     explicit AcmeDelegate(etbk::InitContext& init);   // throws etbk::Error or any exception
//     void execute(etbk::ExecuteContext& run);          // likewise; or returns etbk::Error
//   };
//   ETBK_PLUGIN(acme, "Acme", "1.2.0", AcmeDelegate);
//
// Optional static members of the class (a wrong signature does not compile):
//   Result<D> create(InitContext&)                            instead of the constructor
//   Error is_available(const HostContext&)                    can the device be used now?
//   BlobGrade check_blob(const HostContext&, Bytes, uint64_t) judges a blob by its first bytes
//   Error set_option(const HostContext&, const Option&)       process-wide options
//   Result<OptionValue> get_option(const HostContext&, std::string_view key)
//   const void* extension(std::string_view name, uint32_t revision)
//
// Threads: the host calls the members of one object from one thread at a time; objects of the same
// class, and the static members, may be used at the same time (ABI-020, ABI-021).
// Ownership: the kit owns the object and deletes it when the host destroys the delegate; its
// destructor must not read the blob (ABI-038).
// Errors: what a member throws or returns reaches the application as a status and a text.
// Works with -fno-exceptions and -fno-rtti. Keeps no global state; execute allocates nothing.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>
#include <executorch_backend_kit/backend/argument.hpp>
#include <executorch_backend_kit/backend/backend_table.hpp>
#include <executorch_backend_kit/backend/blob_grade.hpp>
#include <executorch_backend_kit/backend/error.hpp>
#include <executorch_backend_kit/backend/execute_context.hpp>
#include <executorch_backend_kit/backend/host_context.hpp>
#include <executorch_backend_kit/backend/info.hpp>
#include <executorch_backend_kit/backend/init_context.hpp>
#include <executorch_backend_kit/backend/named_data.hpp>
#include <executorch_backend_kit/backend/option.hpp>
#include <executorch_backend_kit/backend/parallel_for.hpp>
#include <executorch_backend_kit/backend/plugin_entry.hpp>
#include <executorch_backend_kit/backend/plugin_note.hpp>
#include <executorch_backend_kit/backend/profiler.hpp>
#include <executorch_backend_kit/backend/span.hpp>

// The host's ABI minor that the plugin needs at least. All of this header needs 9.
#if !defined(ETBK_ABI_MINOR_NEEDED)
#define ETBK_ABI_MINOR_NEEDED 9u
#endif

#define ETBK_QUOTE_(text) #text
#define ETBK_QUOTE(text) ETBK_QUOTE_(text)

// Emits the plugin: entry and note. Once per plugin, at file scope, outside any namespace.
//   ETBK_PLUGIN(acme, "Acme", "1.2.0", AcmeDelegate, AcmeOtherDelegate);
// With etbk_add_backend the first three are known already:
//   ETBK_PLUGIN(ETBK_PLUGIN_NAME, ETBK_PLUGIN_VENDOR, ETBK_PLUGIN_VERSION, AcmeDelegate);
// Without it, compile with ETBK_STATIC_PLUGIN defined for a static plugin.
#define ETBK_PLUGIN(plugin_name, vendor_text, version_text, ...)                        \
  namespace {                                                                           \
  struct EtbkThisPlugin {                                                               \
    static constexpr std::string_view name = ETBK_QUOTE(plugin_name);                   \
    static constexpr std::string_view vendor = vendor_text;                             \
    static constexpr std::string_view version = version_text;                           \
    static constexpr uint32_t minor_needed = ETBK_ABI_MINOR_NEEDED;                     \
  };                                                                                    \
  static constexpr auto etbk_plugin_note ETBK_NOTE_PLACE_ =                             \
      ::etbk::detail::NoteOf<EtbkThisPlugin, __VA_ARGS__>::make(ETBK_ABI_MINOR_NEEDED); \
  }                                                                                     \
  ETBK_PLUGIN_ENTRY(plugin_name) {                                                      \
    return ::etbk::detail::enter<EtbkThisPlugin, __VA_ARGS__>(host, plugin);            \
  }                                                                                     \
  static_assert(true, "")
