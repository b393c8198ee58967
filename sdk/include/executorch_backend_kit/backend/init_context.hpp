// ExecuTorch Backend Kit, author API: everything `init` may know and ask for.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/host_context.hpp>
#include <executorch_backend_kit/backend/named_data.hpp>
#include <executorch_backend_kit/backend/option.hpp>
#include <executorch_backend_kit/backend/profiler.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace etbk {
inline namespace author_1 {

// The delegate call that is being prepared. Valid during init only, on the thread that init was
// called on; do not keep it. What it returns is valid during init too, except where a function
// says more.
class InitContext : public HostContext {
 public:
  InitContext(const EtbkHostApi* api, const EtbkInit* init) noexcept
      : HostContext(api), init_(init) {}
  InitContext(const InitContext&) = delete;
  InitContext& operator=(const InitContext&) = delete;

  const EtbkInit* abi() const noexcept { return init_; }

  std::string_view method_name() const noexcept { return from_abi(init_->method_name); }

  // The blob that the backend's ahead-of-time part wrote. Execute may read it too, unless
  // release_blob was called; in the delegate's destructor it may be gone (ABI-033, ABI-038). Its
  // alignment is not promised (ABI-034).
  Bytes blob() const noexcept { return from_abi(init_->blob); }
  // Frees the blob early: afterwards it must not be read. Cannot fail.
  void release_blob() const noexcept { api_->release_blob(api_, init_); }

  // Compile specs, in the order of the file. A damaged file may lack a key or a value.
  Span<const EtbkCompileSpec> specs() const noexcept { return {init_->specs, init_->spec_count}; }
  // The value of the first spec named `key`; nothing when there is none.
  std::optional<Bytes> spec(std::string_view key) const noexcept {
    for (const EtbkCompileSpec& candidate : specs()) {
      if (candidate.key.data != nullptr && from_abi(candidate.key) == key) {
        return from_abi(candidate.value);
      }
    }
    return std::nullopt;
  }

  // Load-time options given by the application.
  Span<const EtbkOption> options() const noexcept { return {init_->options, init_->option_count}; }
  // Writes the option named `key` to `value` (bool, int64_t or std::string_view) and leaves it as
  // it was when the application did not give that option. INVALID_TYPE when it has another kind.
  template <class T>
  Error read_option(std::string_view key, T& value) const {
    for (const EtbkOption& candidate : options()) {
      if (from_abi(candidate.key) == key) {
        return Option(candidate).read(value);
      }
    }
    return {};
  }

  // Equal for all methods of one loaded program and different for two programs; 0 = unknown: then
  // state is kept per delegate (ABI-035).
  uint64_t program_scope() const noexcept { return init_->program_scope; }

  // Memory for `count` objects of T that outlives the delegate and is freed with the method; no
  // destructor is run. Not initialized. NULL when the method's allocator is exhausted.
  template <class T>
  T* allocate_persistent(size_t count, size_t alignment = alignof(T)) const noexcept {
    static_assert(std::is_trivially_destructible<T>::value, "no destructor would be run");
    if (count > SIZE_MAX / sizeof(T)) {
      return nullptr;
    }
    return static_cast<T*>(api_->allocate_persistent(api_, init_, count * sizeof(T), alignment));
  }

  // The named-data entry `key`. Owned by the result: move it into the delegate to keep it.
  // NOT_FOUND when there is none; otherwise what reading it gave.
  Result<NamedData> named_data(std::string_view key) const {
    EtbkNamedData entry{};
    entry.struct_size = sizeof(entry);
    const EtbkStatus status = api_->get_named_data(api_, init_, to_abi(key), &entry);
    if (status != ETBK_STATUS_OK) {
      return Error::told_by_host(status);
    }
    return NamedData(api_, entry);
  }
  // Copies the first `size` bytes of entry `key` to `buffer`, which stays the caller's.
  Error load_named_data(std::string_view key, void* buffer, size_t size) const noexcept {
    return Error::told_by_host(api_->load_named_data_into(api_, init_, to_abi(key), buffer, size));
  }
  // Type and sizes of entry `key`, where it is a tensor. The pointers are valid during init. Data
  // inside the .pte may have no layout (NOT_SUPPORTED): put layouts into the blob.
  Result<EtbkNamedLayout> named_data_layout(std::string_view key) const {
    EtbkNamedLayout layout{};
    layout.struct_size = sizeof(layout);
    const EtbkStatus status = api_->named_data_layout(api_, init_, to_abi(key), &layout);
    if (status != ETBK_STATUS_OK) {
      return Error::told_by_host(status);
    }
    return layout;
  }
  // The keys that there are, by index below named_data_count().
  size_t named_data_count() const noexcept { return api_->named_data_count(api_, init_); }
  Result<std::string_view> named_data_key(size_t index) const {
    EtbkString key{};
    const EtbkStatus status = api_->named_data_key(api_, init_, index, &key);
    if (status != ETBK_STATUS_OK) {
      return Error::told_by_host(status);
    }
    return from_abi(key);
  }

  // Profiling. `auto event = init.profile("pack");` makes an event that lasts as long as `event`.
  Profiler profiler() const noexcept { return Profiler(api_, init_->profiler); }
  ProfileScope profile(std::string_view name) const noexcept { return profiler().scope(name); }

 private:
  const EtbkInit* init_;
};

}  // namespace author_1
}  // namespace etbk
