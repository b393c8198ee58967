// The C API: the C++ API with JSON in and out.
// Licence: BSD-3-Clause.
#include <executorch_backend_kit/host.h>

#include <cstdlib>
#include <cstring>
#include <executorch_backend_kit/host.hpp>
#include <new>

#include "finding_texts.hpp"
#include "json_report.hpp"

namespace {

using namespace etbk::host;

char* copy(const std::string& text) {
  auto* const result = static_cast<char*>(std::malloc(text.size() + 1));
  if (result != nullptr) {
    std::memcpy(result, text.c_str(), text.size() + 1);
  }
  return result;
}

// Runs `make`, which returns the text to answer with. Only memory can run out in there.
template <typename Make>
char* answer(Make make) {
#if defined(__cpp_exceptions)
  try {
    return copy(make());
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
#else
  return copy(make());
#endif
}

std::string refuse_request(const char* request, const std::string& problem) {
  return plugins_document({}, {findings::request_invalid(request, problem)});
}

EtbkOption option_for(const char* key) {
  EtbkOption option{};
  option.key = {key, std::strlen(key)};
  return option;
}

}  // namespace

extern "C" {

char* ETBK_CALL etbk_host_discover(const char* options_json) {
  return answer([&] {
    DiscoveryOptions options;
    const std::string problem = read_options(options_json, &options);
    return problem.empty() ? plugins_document(discover(options), {})
                           : refuse_request("discover", problem);
  });
}

char* ETBK_CALL etbk_host_load_plugins(const char* options_json) {
  return answer([&] {
    DiscoveryOptions options;
    const std::string problem = read_options(options_json, &options);
    return problem.empty() ? plugins_document(load_plugins(options), {})
                           : refuse_request("load_plugins", problem);
  });
}

char* ETBK_CALL etbk_host_load_plugin(const char* path) {
  return answer([&] {
    return path == nullptr ? refuse_request("load_plugin", "the path is null")
                           : plugins_document({load_plugin(path)}, {});
  });
}

char* ETBK_CALL etbk_host_plugins(void) {
  return answer([] { return plugins_document(plugins(), {}); });
}

char* ETBK_CALL etbk_host_registered_backends(void) {
  return answer([] { return names_document(registered_backends()); });
}

char* ETBK_CALL etbk_host_audit(const char* names_json) {
  return answer([&] {
    std::vector<std::string> names;
    bool given = false;
    const std::string problem = read_names(names_json, &names, &given);
    if (!problem.empty()) {
      return findings_document({findings::request_invalid("audit", problem)});
    }
    return findings_document(given ? audit(names) : audit());
  });
}

char* ETBK_CALL etbk_host_recent_errors(void) {
  return answer([] { return errors_document(recent_errors()); });
}

char* ETBK_CALL etbk_host_counters(void) {
  return answer([] { return counters_document(counters()); });
}

char* ETBK_CALL etbk_host_set_option(const char* backend, const char* key, const char* value_json) {
  return answer([&] {
    if (backend == nullptr || key == nullptr) {
      return option_document(ETBK_STATUS_INVALID_ARGUMENT, "backend or key is null", nullptr);
    }
    EtbkOption option = option_for(key);
    std::string storage;
    const std::string problem = read_option_value(value_json, &option, &storage);
    if (!problem.empty()) {
      return option_document(ETBK_STATUS_INVALID_ARGUMENT, problem, nullptr);
    }
    const EtbkStatus status = set_option(backend, option);
    return option_document(status, status == ETBK_STATUS_OK ? "" : last_error(), nullptr);
  });
}

char* ETBK_CALL etbk_host_get_option(const char* backend, const char* key, const char* kind) {
  return answer([&] {
    if (backend == nullptr || key == nullptr || kind == nullptr) {
      return option_document(ETBK_STATUS_INVALID_ARGUMENT, "backend, key or kind is null", nullptr);
    }
    EtbkOption option = option_for(key);
    if (std::strcmp(kind, "bool") == 0) {
      option.kind = ETBK_OPTION_BOOL;
    } else if (std::strcmp(kind, "int") == 0) {
      option.kind = ETBK_OPTION_INT;
    } else if (std::strcmp(kind, "string") == 0) {
      option.kind = ETBK_OPTION_STRING;
    } else {
      return option_document(ETBK_STATUS_INVALID_ARGUMENT, "the kind is not bool, int or string",
                             nullptr);
    }
    const EtbkStatus status = get_option(backend, &option);
    return status == ETBK_STATUS_OK ? option_document(status, "", &option)
                                    : option_document(status, last_error(), nullptr);
  });
}

char* ETBK_CALL etbk_host_last_error(void) {
  return answer([] { return last_error(); });
}

char* ETBK_CALL etbk_host_runtime_version(void) {
  return answer([] { return runtime_version(); });
}

char* ETBK_CALL etbk_host_runtime_library(void) {
  return answer([] { return runtime_library(); });
}

void ETBK_CALL etbk_host_free(char* text) { std::free(text); }

}  // extern "C"
