// ExecuTorch Backend Kit, author API: what a delegate class offers, found out by the compiler.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/blob_grade.hpp>
#include <executorch_backend_kit/backend/execute_context.hpp>
#include <executorch_backend_kit/backend/info.hpp>
#include <executorch_backend_kit/backend/init_context.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace etbk {
inline namespace author_1 {
namespace detail {

// ETBK_DETECT_(name, expression): `name<D>` is the type of `expression` in D, or NotThere.
struct NotThere {};
#define ETBK_DETECT_(name, ...)                           \
  template <class D, class = void>                        \
  struct name##_ {                                        \
    using type = NotThere;                                \
  };                                                      \
  template <class D>                                      \
  struct name##_<D, std::void_t<decltype(__VA_ARGS__)>> { \
    using type = decltype(__VA_ARGS__);                   \
  };                                                      \
  template <class D>                                      \
  using name = typename name##_<D>::type

ETBK_DETECT_(InfoOf, D::info);
ETBK_DETECT_(ExecuteOf, std::declval<D&>().execute(std::declval<ExecuteContext&>()));
ETBK_DETECT_(CreateOf, D::create(std::declval<InitContext&>()));
ETBK_DETECT_(IsAvailableOf, D::is_available(std::declval<const HostContext&>()));
ETBK_DETECT_(CheckBlobOf, D::check_blob(std::declval<const HostContext&>(), Bytes(), uint64_t()));
ETBK_DETECT_(SetOptionOf,
             D::set_option(std::declval<const HostContext&>(), std::declval<const Option&>()));
ETBK_DETECT_(GetOptionOf, D::get_option(std::declval<const HostContext&>(), std::string_view()));
ETBK_DETECT_(ExtensionOf, D::extension(std::string_view(), uint32_t()));

// The same names whatever their signature: a hook of the wrong shape is an error, not ignored.
ETBK_DETECT_(NamedCreate, &D::create);
ETBK_DETECT_(NamedIsAvailable, &D::is_available);
ETBK_DETECT_(NamedCheckBlob, &D::check_blob);
ETBK_DETECT_(NamedSetOption, &D::set_option);
ETBK_DETECT_(NamedGetOption, &D::get_option);
ETBK_DETECT_(NamedExtension, &D::extension);
#undef ETBK_DETECT_

template <class Detected>
inline constexpr bool is_there = !std::is_same<Detected, NotThere>::value;

template <class T>
inline constexpr bool is_error_like =
    std::is_same<T, Error>::value || std::is_same<T, EtbkStatus>::value;

// Stops the compilation with a sentence where D is not a delegate class.
template <class D>
struct CheckDelegate {
  static_assert(std::is_same<std::decay_t<InfoOf<D>>, Info>::value,
                "a delegate class needs `static constexpr auto info = etbk::Info(\"TheId\");`");
  static_assert(is_there<ExecuteOf<D>>,
                "a delegate class needs a public member `execute(etbk::ExecuteContext&)`");
  static_assert(!is_there<ExecuteOf<D>> || std::is_void<ExecuteOf<D>>::value ||
                    is_error_like<ExecuteOf<D>>,
                "execute returns void, etbk::Error or EtbkStatus");
  static_assert(is_there<CreateOf<D>> || !is_there<NamedCreate<D>>,
                "create has the wrong shape: static etbk::Result<D> create(etbk::InitContext&)");
  static_assert(!is_there<CreateOf<D>> || std::is_same<CreateOf<D>, Result<D>>::value ||
                    std::is_same<CreateOf<D>, Result<std::unique_ptr<D>>>::value,
                "create returns etbk::Result<D> or etbk::Result<std::unique_ptr<D>>");
  static_assert(is_there<CreateOf<D>> || std::is_constructible<D, InitContext&>::value,
                "a delegate class needs a constructor from etbk::InitContext&, or `create`");
  static_assert(is_there<IsAvailableOf<D>> == is_there<NamedIsAvailable<D>> &&
                    (!is_there<IsAvailableOf<D>> || is_error_like<IsAvailableOf<D>>),
                "is_available has the wrong shape: static etbk::Error "
                "is_available(const etbk::HostContext&)");
  static_assert(is_there<CheckBlobOf<D>> == is_there<NamedCheckBlob<D>> &&
                    (!is_there<CheckBlobOf<D>> || std::is_same<CheckBlobOf<D>, BlobGrade>::value ||
                     std::is_same<CheckBlobOf<D>, Result<BlobGrade>>::value),
                "check_blob has the wrong shape: static etbk::BlobGrade "
                "check_blob(const etbk::HostContext&, etbk::Bytes head, uint64_t blob_size)");
  static_assert(is_there<SetOptionOf<D>> == is_there<NamedSetOption<D>> &&
                    (!is_there<SetOptionOf<D>> || is_error_like<SetOptionOf<D>>),
                "set_option has the wrong shape: static etbk::Error "
                "set_option(const etbk::HostContext&, const etbk::Option&)");
  static_assert(is_there<GetOptionOf<D>> == is_there<NamedGetOption<D>> &&
                    (!is_there<GetOptionOf<D>> ||
                     std::is_same<GetOptionOf<D>, Result<OptionValue>>::value),
                "get_option has the wrong shape: static etbk::Result<etbk::OptionValue> "
                "get_option(const etbk::HostContext&, std::string_view key)");
  static_assert(is_there<ExtensionOf<D>> == is_there<NamedExtension<D>> &&
                    (!is_there<ExtensionOf<D>> || std::is_same<ExtensionOf<D>, const void*>::value),
                "extension has the wrong shape: static const void* "
                "extension(std::string_view name, uint32_t revision)");
  static constexpr bool ok = true;
};

}  // namespace detail
}  // namespace author_1
}  // namespace etbk
