// ExecuTorch Backend Kit, author API: the plugin's identity, checked and written by the compiler
// into the note that tools read without loading the library.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>
#include <executorch_backend_kit/backend/delegate_traits.hpp>

#include <cstddef>
#include <string_view>

namespace etbk {
inline namespace author_1 {
namespace detail {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// A Python (and C) identifier of at most 63 bytes.
constexpr bool is_identifier(std::string_view text) noexcept {
  if (text.empty() || text.size() > 63 || is_digit(text[0])) {
    return false;
  }
  for (const char c : text) {
    if (!is_digit(c) && !is_letter(c)) {
      return false;
    }
  }
  return true;
}

// "MAJOR.MINOR.PATCH", perhaps with a suffix that begins with "-" or "+" or a letter.
constexpr bool is_version(std::string_view text) noexcept {
  size_t at = 0;
  for (int part = 0; part < 3; ++part) {
    const size_t begin = at;
    while (at < text.size() && is_digit(text[at])) {
      ++at;
    }
    if (at == begin) {
      return false;
    }
    if (part < 2) {
      if (at == text.size() || text[at] != '.') {
        return false;
      }
      ++at;
    }
  }
  for (; at < text.size(); ++at) {
    if (text[at] <= ' ' || text[at] > '~') {
      return false;
    }
  }
  return true;
}

// [a-z][a-z0-9_]*, at most 63 bytes.
constexpr bool is_plugin_name(std::string_view text) noexcept {
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') {
      return false;
    }
  }
  return is_identifier(text) && text[0] != '_';
}

// Not empty, and without control bytes.
constexpr bool is_line(std::string_view text) noexcept {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return false;
    }
  }
  return !text.empty();
}

template <size_t N>
constexpr bool all_differ(const std::string_view (&texts)[N]) noexcept {
  for (size_t i = 0; i < N; ++i) {
    for (size_t j = i + 1; j < N; ++j) {
      if (texts[i] == texts[j]) {
        return false;
      }
    }
  }
  return true;
}

template <size_t N>
struct Note {
  EtbkNoteHeader header;
  char text[N];
};

template <class Plugin, class... Delegates>
struct NoteOf {
  static_assert((CheckDelegate<Delegates>::ok && ...));
  static_assert(is_plugin_name(Plugin::name), "the plugin's name is not [a-z][a-z0-9_]*");
  static_assert(is_line(Plugin::vendor), "the vendor is empty or holds control bytes");
  static_assert(is_version(Plugin::version), "the version is not MAJOR.MINOR.PATCH");
  static_assert((is_identifier(Delegates::info.id()) && ...),
                "a backend's id is not an identifier of at most 63 bytes");
  static constexpr std::string_view ids[] = {Delegates::info.id()...};
  static_assert(all_differ(ids), "two backends of this plugin have the same id");

  static constexpr std::string_view name_key = "name=";
  static constexpr std::string_view vendor_key = "vendor=";
  static constexpr std::string_view version_key = "version=";
  static constexpr std::string_view id_key = "id=";

  static constexpr size_t line_size(std::string_view key, std::string_view value) noexcept {
    return key.size() + value.size() + 1;
  }
  static constexpr size_t text_size =
      line_size(name_key, Plugin::name) + line_size(vendor_key, Plugin::vendor) +
      line_size(version_key, Plugin::version) + (line_size(id_key, Delegates::info.id()) + ...);
  static_assert(text_size <= 4096, "the note is over 4096 bytes: too many or too long ids");
  // With the final zero, a multiple of 4.
  static constexpr size_t padded_size = (text_size + 1 + 3) / 4 * 4;

  static constexpr size_t append(Note<padded_size>& note, size_t at, std::string_view key,
                                 std::string_view value) noexcept {
    for (const char c : key) {
      note.text[at++] = c;
    }
    for (const char c : value) {
      note.text[at++] = c;
    }
    note.text[at++] = '\n';
    return at;
  }

  static constexpr Note<padded_size> make(uint32_t minor_needed) noexcept {
    Note<padded_size> note{{5u, static_cast<uint32_t>(16 + padded_size), ETBK_NOTE_TYPE, "ETBK",
                            ETBK_NOTE_FORMAT, ETBK_ABI_MAJOR, ETBK_ABI_MINOR, minor_needed},
                           {}};
    size_t at = append(note, 0, name_key, Plugin::name);
    at = append(note, at, vendor_key, Plugin::vendor);
    at = append(note, at, version_key, Plugin::version);
    for (const std::string_view id : ids) {
      at = append(note, at, id_key, id);
    }
    return note;
  }
};

}  // namespace detail
}  // namespace author_1
}  // namespace etbk
