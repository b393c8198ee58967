// ExecuTorch Backend Kit, author API: what a backend may ask of the host in any call.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/error.hpp>
#include <executorch_backend_kit/backend/span.hpp>

#include <string_view>

#if defined(__has_builtin)
#if __has_builtin(__builtin_FILE) && __has_builtin(__builtin_LINE)
#define ETBK_SOURCE_FILE_ __builtin_FILE()
#define ETBK_SOURCE_LINE_ static_cast<uint32_t>(__builtin_LINE())
#endif
#endif
#if !defined(ETBK_SOURCE_FILE_)
#define ETBK_SOURCE_FILE_ ""
#define ETBK_SOURCE_LINE_ 0u
#endif

namespace etbk {
inline namespace author_1 {

// The host that made the current call. Owns nothing. Two hosts may live in one process, so a
// backend keeps no Host outside the objects that belong to one delegate handle (ABI-010).
class HostContext {
 public:
  explicit HostContext(const EtbkHostApi* api) noexcept : api_(api) {}

  // The table itself, for calls that this header does not wrap.
  const EtbkHostApi* api() const noexcept { return api_; }

  // Who hosts ("ExecuTorch") and the ExecuTorch release it was compiled for ("1.5.1"). Static.
  std::string_view host_name() const noexcept { return from_abi(api_->name); }
  std::string_view runtime_version() const noexcept { return from_abi(api_->runtime_version); }

  // Writes one line to ExecuTorch's log, with the place of the call. `level` is ETBK_LOG_....
  // Thread: any. Cannot fail.
  void log(uint32_t level, std::string_view text, std::string_view file = ETBK_SOURCE_FILE_,
           uint32_t line = ETBK_SOURCE_LINE_) const noexcept {
    api_->log(api_, level, to_abi(file), line, to_abi(text));
  }

  // The host's side of an extension, NULL when it has none of this name and revision. The table
  // lives as long as the process. `T` is the struct that plugin.h declares for the extension.
  template <class T>
  const T* extension(std::string_view name, uint32_t revision) const noexcept {
    return static_cast<const T*>(api_->get_extension(api_, to_abi(name), revision));
  }

 protected:
  const EtbkHostApi* api_;
};

}  // namespace author_1
}  // namespace etbk
