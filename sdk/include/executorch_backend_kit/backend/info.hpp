// ExecuTorch Backend Kit, author API: the constant facts that a backend declares about itself.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>

#include <string_view>

namespace etbk {
inline namespace author_1 {

// May different handles run at the same time? See ETBK_CONCURRENCY_....
enum class Concurrency : uint32_t {
  kHandles = ETBK_CONCURRENCY_HANDLES,
  kNone = ETBK_CONCURRENCY_NONE
};

// What a delegate class says of its backend, in a static member named `info`:
//   static constexpr auto info = etbk::Info("AcmeBackend").blob_formats(1, 2).alignment(64);
// Everything but the id has a default. All of it is evaluated by the compiler.
class Info {
 public:
  // `id` is what .pte files store: a Python identifier of at most 63 bytes, a string literal.
  constexpr explicit Info(std::string_view id) noexcept : id_(id) {}

  // The blob formats that this backend reads, oldest and newest. Default: 0 and 0.
  constexpr Info blob_formats(uint32_t oldest, uint32_t newest) const noexcept {
    Info copy = *this;
    copy.blob_format_oldest_ = oldest;
    copy.blob_format_newest_ = newest;
    return copy;
  }
  // Alignment in bytes that the backend wishes for its blob. Default: 0, none.
  constexpr Info alignment(uint32_t bytes) const noexcept {
    Info copy = *this;
    copy.blob_alignment_ = bytes;
    return copy;
  }
  // Default: different handles may run at the same time.
  constexpr Info concurrency(Concurrency value) const noexcept {
    Info copy = *this;
    copy.concurrency_ = value;
    return copy;
  }
  // Device types whose tensors are accepted, bit n for type n. Default: 0, the CPU only.
  constexpr Info device_types(uint32_t mask) const noexcept {
    Info copy = *this;
    copy.device_types_ = mask;
    return copy;
  }
  // ETBK_CAPABILITY_... joined by `|`. Default: none.
  constexpr Info capabilities(uint64_t mask) const noexcept {
    Info copy = *this;
    copy.capabilities_ = mask;
    return copy;
  }

  constexpr std::string_view id() const noexcept { return id_; }
  // As the ABI wants it.
  constexpr EtbkBackendInfo to_abi(std::string_view vendor,
                                   std::string_view version) const noexcept {
    return EtbkBackendInfo{static_cast<uint32_t>(sizeof(EtbkBackendInfo)),
                           static_cast<uint32_t>(concurrency_),
                           EtbkString{id_.data(), id_.size()},
                           EtbkString{vendor.data(), vendor.size()},
                           EtbkString{version.data(), version.size()},
                           blob_format_oldest_,
                           blob_format_newest_,
                           blob_alignment_,
                           device_types_,
                           capabilities_};
  }

 private:
  std::string_view id_;
  Concurrency concurrency_ = Concurrency::kHandles;
  uint32_t blob_format_oldest_ = 0;
  uint32_t blob_format_newest_ = 0;
  uint32_t blob_alignment_ = 0;
  uint32_t device_types_ = 0;
  uint64_t capabilities_ = 0;
};

}  // namespace author_1
}  // namespace etbk
