// ExecuTorch Backend Kit, author API: what a plugin's entry does, negotiation included.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/backend_table.hpp>

#include <cstdio>

namespace etbk {
inline namespace author_1 {
namespace detail {

ETBK_COLD_ inline EtbkStatus refuse_host(const EtbkHostApi* host, EtbkStatus status,
                                         uint32_t minor_needed) noexcept {
  // Only within one major is it known where `set_error` lies; a host of another major makes the
  // sentence from the versions that the plugin wrote.
  if (host->abi_major == ETBK_ABI_MAJOR && ETBK_HAS(host, EtbkHostApi, set_error)) {
    char text[200];
    const int size = std::snprintf(
        text, sizeof(text),
        "the host speaks plugin ABI %u.%u and this plugin needs at least %u.%u: use a newer host",
        static_cast<unsigned>(host->abi_major), static_cast<unsigned>(host->abi_minor),
        static_cast<unsigned>(ETBK_ABI_MAJOR), static_cast<unsigned>(minor_needed));
    if (size > 0) {
      host->set_error(host, EtbkString{text, static_cast<size_t>(size)});
    }
  }
  return status;
}

// The body of the entry that ETBK_PLUGIN emits.
template <class Plugin, class... Delegates>
EtbkStatus enter(const EtbkHostApi* host, EtbkPluginApi* plugin) noexcept {
  static constexpr const EtbkBackendApi* backends[] = {&BackendTable<Delegates, Plugin>::api...};
  if (host == nullptr || plugin == nullptr || !ETBK_HAS(plugin, EtbkPluginApi, name)) {
    return ETBK_STATUS_INVALID_ARGUMENT;
  }
  plugin->abi_major = ETBK_ABI_MAJOR;
  plugin->abi_minor = ETBK_ABI_MINOR;
  plugin->abi_minor_needed = Plugin::minor_needed;
  if (host->abi_major > ETBK_ABI_MAJOR) {
    return refuse_host(host, ETBK_STATUS_HOST_TOO_NEW, Plugin::minor_needed);
  }
  // The last field of 0.9: what the plugin may use without asking must be there.
  if (host->abi_major < ETBK_ABI_MAJOR || host->abi_minor < Plugin::minor_needed ||
      !ETBK_HAS(host, EtbkHostApi, get_extension)) {
    return refuse_host(host, ETBK_STATUS_HOST_TOO_OLD, Plugin::minor_needed);
  }
  plugin->backend_count = static_cast<uint32_t>(sizeof...(Delegates));
  plugin->backends = backends;
  plugin->name = to_abi(Plugin::name);
  return ETBK_STATUS_OK;
}

}  // namespace detail
}  // namespace author_1
}  // namespace etbk
