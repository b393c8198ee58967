// ExecuTorch Backend Kit, author API: views of memory that somebody else owns, and conversions
// between the ABI's text and bytes and those of C++.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>

#include <cassert>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace etbk {
inline namespace author_1 {

// A pointer and a count. Owns nothing; valid as long as what it points to. `operator[]` and
// iteration do not check bounds in a release build.
template <class T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T* data, size_t size) noexcept : data_(data), size_(size) {}
  template <size_t N>
  constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  // From a span of the same type without const.
  template <class U, class = std::enable_if_t<std::is_convertible<U (*)[], T (*)[]>::value>>
  constexpr Span(Span<U> other) noexcept : data_(other.data()), size_(other.size()) {}

  constexpr T* data() const noexcept { return data_; }
  constexpr size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](size_t index) const noexcept {
    assert(index < size_);
    return data_[index];
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Raw memory that is only read.
using Bytes = Span<const unsigned char>;

constexpr EtbkString to_abi(std::string_view text) noexcept {
  return EtbkString{text.data(), text.size()};
}
inline EtbkBytes to_abi(Bytes bytes) noexcept { return EtbkBytes{bytes.data(), bytes.size()}; }

// An absent text (NULL, as in a damaged file) becomes an empty one.
constexpr std::string_view from_abi(EtbkString text) noexcept {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}
inline Bytes from_abi(EtbkBytes bytes) noexcept {
  return bytes.data == nullptr ? Bytes()
                               : Bytes(static_cast<const unsigned char*>(bytes.data), bytes.size);
}

}  // namespace author_1
}  // namespace etbk
