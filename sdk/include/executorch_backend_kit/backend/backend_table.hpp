// ExecuTorch Backend Kit, author API: the C table that stands for a delegate class.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/boundary.hpp>
#include <executorch_backend_kit/backend/delegate_traits.hpp>

#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

namespace etbk {
inline namespace author_1 {
namespace detail {

// `Plugin` is the type that ETBK_PLUGIN makes in an anonymous namespace. So every function and
// object here is local to the plugin's object file: two plugins never share one.
template <class D, class Plugin>
struct BackendTable {
  static_assert(CheckDelegate<D>::ok);

  static EtbkStatus ETBK_CALL is_available(const EtbkHostApi* host,
                                           const EtbkBackendApi*) noexcept {
    return guard(host, [&] { return to_status(host, D::is_available(HostContext(host))); });
  }

  static EtbkStatus ETBK_CALL check_blob(const EtbkHostApi* host, const EtbkBackendApi*,
                                         EtbkBytes head, uint64_t blob_size,
                                         uint32_t* grade) noexcept {
    return guard(host, [&]() -> EtbkStatus {
      const Result<BlobGrade> verdict = D::check_blob(HostContext(host), from_abi(head), blob_size);
      if (!verdict.ok()) {
        return report(host, verdict.error());
      }
      *grade = verdict->grade();
      if (*grade != ETBK_BLOB_OPTIMAL) {
        host->set_error(host, to_abi(verdict->reason()));
      }
      return ETBK_STATUS_OK;
    });
  }

  static EtbkStatus ETBK_CALL init(const EtbkHostApi* host, const EtbkBackendApi*,
                                   const EtbkInit* init, void** handle) noexcept {
    return guard(host, [&]() -> EtbkStatus {
      InitContext context(host, init);
      D* made = nullptr;
      if constexpr (is_there<CreateOf<D>>) {
        auto created = D::create(context);
        if (!created.ok()) {
          return report(host, created.error());
        }
        if constexpr (std::is_same<decltype(created), Result<D>>::value) {
          made = new (std::nothrow) D(*std::move(created));
        } else {
          made = (*created).release();
        }
      } else {
        made = new (std::nothrow) D(context);
      }
      if (made == nullptr) {
        return report(host, Error(ETBK_STATUS_OUT_OF_MEMORY));
      }
      *handle = made;
      return ETBK_STATUS_OK;
    });
  }

  static EtbkStatus ETBK_CALL execute(const EtbkHostApi* host, const EtbkExecution* execution,
                                      void* handle) noexcept {
    return guard(host, [&]() -> EtbkStatus {
      ExecuteContext context(host, execution);
      if constexpr (std::is_void<ExecuteOf<D>>::value) {
        static_cast<D*>(handle)->execute(context);
        return ETBK_STATUS_OK;
      } else {
        return to_status(host, static_cast<D*>(handle)->execute(context));
      }
    });
  }

  static void ETBK_CALL destroy(const EtbkHostApi*, void* handle) noexcept {
    delete static_cast<D*>(handle);
  }

  static EtbkStatus ETBK_CALL set_option(const EtbkHostApi* host, const EtbkBackendApi*,
                                         const EtbkOption* option) noexcept {
    return guard(
        host, [&] { return to_status(host, D::set_option(HostContext(host), Option(*option))); });
  }

  static EtbkStatus ETBK_CALL get_option(const EtbkHostApi* host, const EtbkBackendApi*,
                                         EtbkOption* option) noexcept {
    return guard(host, [&]() -> EtbkStatus {
      const Result<OptionValue> result = D::get_option(HostContext(host), from_abi(option->key));
      if (!result.ok()) {
        return report(host, result.error());
      }
      if (const bool* truth = std::get_if<bool>(&*result)) {
        option->kind = ETBK_OPTION_BOOL;
        option->number = *truth ? 1 : 0;
      } else if (const int64_t* number = std::get_if<int64_t>(&*result)) {
        option->kind = ETBK_OPTION_INT;
        option->number = *number;
      } else if (const std::string* text = std::get_if<std::string>(&*result)) {
        // The text must outlive this call, until the next one on this thread.
        thread_local char kept[256];
        if (text->size() > sizeof(kept)) {
          return report(host, Error(ETBK_STATUS_INTERNAL, "the option's text is over 255 bytes"));
        }
        std::memcpy(kept, text->data(), text->size());
        option->kind = ETBK_OPTION_STRING;
        option->text = EtbkString{kept, text->size()};
      }
      return ETBK_STATUS_OK;
    });
  }

  static const void* ETBK_CALL get_extension(const EtbkBackendApi*, EtbkString name,
                                             uint32_t revision) noexcept {
#if ETBK_EXCEPTIONS
    try {
      return D::extension(from_abi(name), revision);
    } catch (...) {
      return nullptr;  // the ABI has no way to say more here: no such extension
    }
#else
    return D::extension(from_abi(name), revision);
#endif
  }

  static constexpr EtbkBackendApi make() noexcept {
    EtbkBackendApi table{};
    table.struct_size = static_cast<uint32_t>(sizeof(EtbkBackendApi));
    table.info = &info;
    table.init = &init;
    table.execute = &execute;
    table.destroy = &destroy;
    if constexpr (is_there<IsAvailableOf<D>>) {
      table.is_available = &is_available;
    }
    if constexpr (is_there<CheckBlobOf<D>>) {
      table.check_blob = &check_blob;
    }
    if constexpr (is_there<SetOptionOf<D>>) {
      table.set_option = &set_option;
    }
    if constexpr (is_there<GetOptionOf<D>>) {
      table.get_option = &get_option;
    }
    if constexpr (is_there<ExtensionOf<D>>) {
      table.get_extension = &get_extension;
    }
    return table;
  }

  static constexpr EtbkBackendInfo info = D::info.to_abi(Plugin::vendor, Plugin::version);
  static constexpr EtbkBackendApi api = make();
};

}  // namespace detail
}  // namespace author_1
}  // namespace etbk
