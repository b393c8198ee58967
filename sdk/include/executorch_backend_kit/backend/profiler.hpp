// ExecuTorch Backend Kit, author API: profiling events in ExecuTorch's ETDump.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/span.hpp>

#include <string_view>

namespace etbk {
inline namespace author_1 {

// An event that ends with its C++ scope. Allocates nothing; without a listener it costs a
// comparison. Lives on the stack of one init or execute.
class ProfileScope {
 public:
  ProfileScope(const EtbkHostApi* host, void* profiler, std::string_view name, uint32_t id) noexcept
      : host_(host), profiler_(profiler) {
    if (profiler_ != nullptr) {
      host_->profile_begin(host_, profiler_, to_abi(name), id, &event_);
    }
  }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
  ~ProfileScope() {
    if (profiler_ != nullptr) {
      host_->profile_end(host_, profiler_, &event_, to_abi(metadata_));
    }
  }

  // Bytes to store with the event; they are read when the scope ends and stay the caller's.
  void set_metadata(Bytes metadata) noexcept { metadata_ = metadata; }

 private:
  const EtbkHostApi* host_;
  void* profiler_;
  Bytes metadata_;
  EtbkProfileEvent event_;
};

// Who listens to the current init or execute, if anybody does. Valid during that call.
class Profiler {
 public:
  Profiler(const EtbkHostApi* host, void* profiler) noexcept : host_(host), profiler_(profiler) {}

  // Do no work for profiling unless somebody listens.
  bool listens() const noexcept { return profiler_ != nullptr; }

  // An event that lasts as long as the returned object, named (up to 127 bytes) or numbered.
  ProfileScope scope(std::string_view name) const noexcept {
    return ProfileScope(host_, profiler_, name, 0);
  }
  ProfileScope scope(uint32_t id) const noexcept {
    return ProfileScope(host_, profiler_, std::string_view(), id);
  }

  // An event that was timed elsewhere, in ticks of now().
  uint64_t now() const noexcept { return host_->profile_now(host_); }
  void span(std::string_view name, uint64_t begin, uint64_t end,
            Bytes metadata = {}) const noexcept {
    host_->profile_span(host_, profiler_, to_abi(name), 0, begin, end, to_abi(metadata));
  }
  void span(uint32_t id, uint64_t begin, uint64_t end, Bytes metadata = {}) const noexcept {
    host_->profile_span(host_, profiler_, EtbkString{}, id, begin, end, to_abi(metadata));
  }

 private:
  const EtbkHostApi* host_;
  void* profiler_;
};

}  // namespace author_1
}  // namespace etbk
