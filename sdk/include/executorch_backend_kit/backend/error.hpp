// ExecuTorch Backend Kit, author API: how a backend says that something failed.
//
// `Error` is a value: return it, or throw it where exceptions are on. `Result<T>` is a T or an
// Error. Both work with -fno-exceptions; `raise()` and `value()` exist only where they can throw.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>

#include <cassert>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define ETBK_EXCEPTIONS 1
#else
#define ETBK_EXCEPTIONS 0
#endif

#if defined(__GNUC__)
#define ETBK_PRINTF_(text, first) __attribute__((format(printf, text, first)))
#define ETBK_COLD_ __attribute__((cold, noinline))
#else
#define ETBK_PRINTF_(text, first)
#define ETBK_COLD_
#endif

namespace etbk {
inline namespace author_1 {

// The meaning of a status in a few words; "unknown status" for a value this header does not know.
constexpr std::string_view status_text(EtbkStatus status) noexcept {
  switch (status) {
#define ETBK_STATUS_CASE_(name, value, text) \
  case value:                                \
    return text;
    ETBK_STATUS_LIST(ETBK_STATUS_CASE_)
#undef ETBK_STATUS_CASE_
    default:
      return "unknown status";
  }
}

// A status and the sentence that goes with it. A default-constructed Error means success, so a
// function that returns Error ends with `return {};`. Making, copying and moving one never fails:
// where memory is exhausted the sentence is left out.
class [[nodiscard]] Error {
 public:
  Error() noexcept = default;

  // A failure. `text` should tell a person what was wrong and what to do. Without a text the
  // meaning of the status is used.
  explicit Error(EtbkStatus status, std::string_view text = {}) noexcept
      : text_(text.empty() ? nullptr : copy(text)), status_(status) {}

  // A failure with a text built as by printf; at most 1023 bytes, as the host keeps no more.
  static Error format(EtbkStatus status, const char* format, ...) noexcept ETBK_PRINTF_(2, 3);

  // A failure whose sentence the host wrote itself, as its services do.
  static Error told_by_host(EtbkStatus status) noexcept {
    Error error;
    error.status_ = status;
    error.told_by_host_ = status != ETBK_STATUS_OK;
    return error;
  }

  Error(const Error& other) noexcept
      : text_(other.text_ == nullptr ? nullptr : copy(other.text_)),
        status_(other.status_),
        told_by_host_(other.told_by_host_) {}
  Error(Error&& other) noexcept
      : text_(std::exchange(other.text_, nullptr)),
        status_(other.status_),
        told_by_host_(other.told_by_host_) {}
  Error& operator=(Error other) noexcept {
    std::swap(text_, other.text_);
    status_ = other.status_;
    told_by_host_ = other.told_by_host_;
    return *this;
  }
  ~Error() {
    if (text_ != nullptr) {
      free_text();
    }
  }

  bool failed() const noexcept { return status_ != ETBK_STATUS_OK; }
  EtbkStatus status() const noexcept { return status_; }
  // Empty for success, and where the host wrote the sentence. Owned by this object.
  std::string_view text() const noexcept {
    return text_ == nullptr ? std::string_view() : std::string_view(text_);
  }
  bool is_told_by_host() const noexcept { return told_by_host_; }

#if ETBK_EXCEPTIONS
  // Throws *this if it is a failure.
  void raise() const {
    if (failed()) {
      throw_this();
    }
  }
#endif

 private:
  // Out of line: a caller's fast path carries a comparison and a jump.
  ETBK_COLD_ static char* copy(std::string_view text) noexcept {
    char* const made = new (std::nothrow) char[text.size() + 1];
    if (made != nullptr) {
      std::memcpy(made, text.data(), text.size());
      made[text.size()] = '\0';
    }
    return made;
  }
  ETBK_COLD_ void free_text() noexcept { delete[] text_; }
#if ETBK_EXCEPTIONS
  [[noreturn]] ETBK_COLD_ void throw_this() const { throw Error(*this); }
#endif

  char* text_ = nullptr;  // zero-terminated, or NULL
  EtbkStatus status_ = ETBK_STATUS_OK;
  bool told_by_host_ = false;
};

ETBK_COLD_ inline Error Error::format(EtbkStatus status, const char* format, ...) noexcept {
  char buffer[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, sizeof(buffer), format, arguments);
  va_end(arguments);
  return Error(status, length > 0 ? std::string_view(buffer) : std::string_view());
}

// A value, or the Error that kept it from being made.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  // `error` must be a failure.
  Result(Error error) : error_(std::move(error)) { assert(error_.failed()); }

  bool ok() const noexcept { return value_.has_value(); }
  const Error& error() const& noexcept { return error_; }
  Error&& error() && noexcept { return std::move(error_); }

  // The value, which must be there: ask ok() first.
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return *std::move(value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

#if ETBK_EXCEPTIONS
  // The value, or throws the Error.
  T& value() & {
    error_.raise();
    return *value_;
  }
  const T& value() const& {
    error_.raise();
    return *value_;
  }
  T&& value() && {
    error_.raise();
    return *std::move(value_);
  }
#endif

 private:
  std::optional<T> value_;
  Error error_;
};

}  // namespace author_1
}  // namespace etbk

// Leaves the current function with the Error of `expression` if it failed.
#define ETBK_RETURN_IF_FAILED(expression)                                 \
  do {                                                                    \
    if (::etbk::Error etbk_error_ = (expression); etbk_error_.failed()) { \
      return etbk_error_;                                                 \
    }                                                                     \
  } while (false)
