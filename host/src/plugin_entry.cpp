// The first vendor code that runs; nothing it returns is believed.
// Licence: BSD-3-Clause.
#include "plugin_entry.hpp"

#include <executorch_backend_kit/plugin.h>

#include <cstring>
#include <exception>

#include "adapter.hpp"
#include "library_inspector.hpp"

namespace etbk::host {
namespace {

constexpr std::uint32_t kMaxTableBytes = 64 * 1024;  // no table of any minor is larger

// The struct the plugin fills, with room behind it that must stay untouched.
struct Answer {
  EtbkPluginApi api;
  unsigned char behind[256];
};

std::string text_of(EtbkString text) {
  return text.data == nullptr || text.size == 0 ? std::string() : std::string(text.data, text.size);
}

// True if the entry returned; otherwise it threw, and `what` says what.
bool call(EtbkPluginEntry entry, EtbkPluginApi* api, EtbkStatus* status, std::string* what) {
#if defined(__cpp_exceptions)
  // The entry is a C function by contract. One that throws all the same must not end the program.
  try {
    *status = entry(adapter::host_api(), api);
    return true;
  } catch (const std::exception& exception) {
    *what = exception.what();
  } catch (...) {
    *what = "not a std::exception";
  }
  return false;
#else
  (void)what;
  *status = entry(adapter::host_api(), api);
  return true;
#endif
}

std::string check_frame(const Answer& answer) {
  const EtbkPluginApi& api = answer.api;
  if (api.struct_size != sizeof api) {
    return "it changed struct_size, which belongs to the host, from " + std::to_string(sizeof api) +
           " to " + std::to_string(api.struct_size);
  }
  for (const unsigned char byte : answer.behind) {
    if (byte != 0) {
      return "it wrote behind the struct that the host gave it";
    }
  }
  if (api.backends == nullptr) {
    return "the list of backends is null";
  }
  if (api.backend_count == 0 || api.backend_count > kMaxBackendsPerPlugin) {
    return "the number of backends is " + std::to_string(api.backend_count) + ", 1 to " +
           std::to_string(kMaxBackendsPerPlugin) + " are allowed";
  }
  return "";
}

std::string check_text(const char* field, EtbkString text) {
  if (text.size > 255 || (text.data == nullptr && text.size != 0)) {
    return std::string("its ") + field + " has " + std::to_string(text.size) + " bytes";
  }
  const std::string problem = check_plain_text(text_of(text));
  return problem.empty() ? "" : std::string("its ") + field + " " + problem;
}

std::string check_backend(const EtbkBackendApi* backend) {
  const char* reason = nullptr;
  if (!adapter::validate(backend, &reason)) {
    return reason;
  }
  if (backend->struct_size > kMaxTableBytes || backend->info->struct_size > kMaxTableBytes) {
    return "a struct_size is larger than any table";
  }
  std::string problem = check_backend_id(text_of(backend->info->id));
  if (!problem.empty()) {
    return "its id " + problem;
  }
  problem = check_text("vendor", backend->info->vendor);
  return problem.empty() ? check_text("version", backend->info->version) : problem;
}

// The backends of a plugin should all tell the vendor and version of its note: `told` collects what
// they tell, "1.2.0 / 1.3.0" if they differ.
void collect(EtbkString text, std::string* told) {
  const std::string one = text_of(text);
  if (told->empty()) {
    *told = one;
  } else if (told->find(one) == std::string::npos) {
    *told += " / " + one;
  }
}

// Fills `answer` from the tables; returns what is wrong with them.
std::string read_tables(const EtbkPluginApi& api, EntryAnswer* answer) {
  for (std::uint32_t i = 0; i < api.backend_count; ++i) {
    const std::string problem = check_backend(api.backends[i]);
    if (!problem.empty()) {
      return "backend " + std::to_string(i) + ": " + problem;
    }
    answer->backends.push_back(api.backends[i]);
    const EtbkBackendInfo& info = *api.backends[i]->info;
    answer->identity.backends.push_back(text_of(info.id));
    collect(info.vendor, &answer->identity.vendor);
    collect(info.version, &answer->identity.version);
  }
  if (api.name.size > 63 || (api.name.data == nullptr && api.name.size != 0)) {
    return "its name has " + std::to_string(api.name.size) + " bytes";
  }
  answer->identity.name = text_of(api.name);
  return check_identity(answer->identity);
}

}  // namespace

EntryAnswer call_entry(EtbkPluginEntry entry, const std::string& label, const HostAbi& host) {
  EntryAnswer answer;
  Answer raw;
  std::memset(&raw, 0, sizeof raw);
  raw.api.struct_size = sizeof raw.api;
  EtbkStatus status = ETBK_STATUS_OK;
  std::string what;
  const bool returned = call(entry, &raw.api, &status, &what);
  char told[1024];
  adapter::take_pending_text(told, sizeof told);  // also when unused: it belongs to this call
  if (!returned) {
    answer.findings.push_back(findings::entry_threw(label, what));
    return answer;
  }
  answer.identity.abi_major = raw.api.abi_major;
  answer.identity.abi_minor = raw.api.abi_minor;
  answer.identity.abi_minor_needed = raw.api.abi_minor_needed;
  if (status == ETBK_STATUS_HOST_TOO_OLD) {
    answer.findings.push_back(findings::abi_too_new(label, answer.identity, host));
    return answer;
  }
  if (status == ETBK_STATUS_HOST_TOO_NEW) {
    answer.findings.push_back(findings::abi_too_old(label, answer.identity, host));
    return answer;
  }
  if (status != ETBK_STATUS_OK) {
    answer.findings.push_back(findings::entry_failed(label, status, told));
    return answer;
  }
  judge_abi(label, answer.identity, host, &answer.findings);
  if (!answer.findings.empty()) {
    return answer;
  }
  std::string problem = check_frame(raw);
  if (problem.empty()) {
    problem = read_tables(raw.api, &answer);
  }
  if (!problem.empty()) {
    answer.backends.clear();
    answer.findings.push_back(findings::entry_invalid(label, problem));
  }
  return answer;
}

}  // namespace etbk::host
