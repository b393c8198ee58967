// ExecuTorch Backend Kit, author API: options that an application sets, at load time or for the
// whole process.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/error.hpp>
#include <executorch_backend_kit/backend/span.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace etbk {
inline namespace author_1 {

// One option as the host lends it: valid during the call that shows it.
class Option {
 public:
  explicit Option(const EtbkOption& option) noexcept : option_(&option) {}

  std::string_view key() const noexcept { return from_abi(option_->key); }
  uint32_t kind() const noexcept { return option_->kind; }  // ETBK_OPTION_...

  // Writes the value, or fails with INVALID_TYPE and leaves `value` as it was. A text stays the
  // host's and must be copied to be kept.
  Error read(bool& value) const {
    if (option_->kind != ETBK_OPTION_BOOL) {
      return wrong_kind("bool");
    }
    value = option_->number != 0;
    return {};
  }
  Error read(int64_t& value) const {
    if (option_->kind != ETBK_OPTION_INT) {
      return wrong_kind("int");
    }
    value = option_->number;
    return {};
  }
  Error read(std::string_view& value) const {
    if (option_->kind != ETBK_OPTION_STRING) {
      return wrong_kind("string");
    }
    value = from_abi(option_->text);
    return {};
  }

 private:
  ETBK_COLD_ Error wrong_kind(const char* wanted) const {
    const char* const given = option_->kind == ETBK_OPTION_BOOL     ? "bool"
                              : option_->kind == ETBK_OPTION_INT    ? "int"
                              : option_->kind == ETBK_OPTION_STRING ? "string"
                                                                    : "unknown";
    return Error::format(ETBK_STATUS_INVALID_TYPE, "option '%.*s' is of kind %s, and %s is needed",
                         static_cast<int>(key().size()), key().data(), given, wanted);
  }

  const EtbkOption* option_;
};

// The value that a backend's get_option returns; owns its text (at most 255 bytes).
using OptionValue = std::variant<bool, int64_t, std::string>;

}  // namespace author_1
}  // namespace etbk
