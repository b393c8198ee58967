// ExecuTorch Backend Kit, author API: no exception crosses the C boundary (ABI-032). What a
// backend throws or returns becomes a status, with its text given to the host.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/error.hpp>
#include <executorch_backend_kit/backend/span.hpp>

#include <exception>
#include <new>

namespace etbk {
inline namespace author_1 {
namespace detail {

// Gives the text of a failure to the host, unless the host wrote it, and returns the status.
ETBK_COLD_ inline EtbkStatus report(const EtbkHostApi* host, const Error& error) noexcept {
  if (!error.is_told_by_host()) {
    host->set_error(host,
                    to_abi(error.text().empty() ? status_text(error.status()) : error.text()));
  }
  return error.status();
}

#if ETBK_EXCEPTIONS
// The exception that is being handled, as a value.
ETBK_COLD_ inline Error current_exception_as_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc& error) {
    return Error(ETBK_STATUS_OUT_OF_MEMORY, error.what());
  } catch (const std::exception& error) {
    return Error(ETBK_STATUS_INTERNAL, error.what());
  } catch (...) {
    return Error(ETBK_STATUS_INTERNAL, "an exception that is not a std::exception");
  }
}

ETBK_COLD_ inline EtbkStatus report_current_exception(const EtbkHostApi* host) noexcept {
  return report(host, current_exception_as_error());
}
#endif

// Runs `body`, which returns a status, and turns whatever it throws into a status and a text.
template <class Body>
EtbkStatus guard(const EtbkHostApi* host, Body&& body) noexcept {
#if ETBK_EXCEPTIONS
  try {
    return body();
  } catch (...) {
    return report_current_exception(host);
  }
#else
  static_cast<void>(host);
  return body();
#endif
}

// What a backend's function may return, as a status.
inline EtbkStatus to_status(const EtbkHostApi* host, const Error& error) noexcept {
  return error.failed() ? report(host, error) : static_cast<EtbkStatus>(ETBK_STATUS_OK);
}
inline EtbkStatus to_status(const EtbkHostApi*, EtbkStatus status) noexcept { return status; }

}  // namespace detail
}  // namespace author_1
}  // namespace etbk
