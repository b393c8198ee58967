// ExecuTorch Backend Kit, author API: one named-data entry, given back when its owner goes.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/span.hpp>

#include <utility>

namespace etbk {
inline namespace author_1 {

// A view of bytes that are stored once for several delegates or methods. Made by
// InitContext::named_data, moved into the delegate, and released by its destructor. The bytes stay
// valid until then, also after init. Releasing never reads them: in destroy they may be gone
// already (ABI-036, ABI-038). Thread: one at a time.
class NamedData {
 public:
  NamedData() noexcept = default;
  // Takes over an entry that `host` gave.
  NamedData(const EtbkHostApi* host, const EtbkNamedData& entry) noexcept
      : host_(host), entry_(entry) {}
  NamedData(NamedData&& other) noexcept
      : host_(std::exchange(other.host_, nullptr)), entry_(other.entry_) {}
  NamedData& operator=(NamedData&& other) noexcept {
    if (this != &other) {
      release();
      host_ = std::exchange(other.host_, nullptr);
      entry_ = other.entry_;
    }
    return *this;
  }
  NamedData(const NamedData&) = delete;
  NamedData& operator=(const NamedData&) = delete;
  ~NamedData() { release(); }

  // Empty after release and in a default-constructed object.
  Bytes bytes() const noexcept { return host_ == nullptr ? Bytes() : from_abi(entry_.bytes); }

  // Gives the entry back early; then bytes() is empty. Nothing happens when there is none.
  void release() noexcept {
    if (host_ != nullptr) {
      host_->release_named_data(host_, &entry_);
      host_ = nullptr;
    }
  }

 private:
  const EtbkHostApi* host_ = nullptr;  // of this handle; NULL when there is nothing to release
  EtbkNamedData entry_{};
};

}  // namespace author_1
}  // namespace etbk
