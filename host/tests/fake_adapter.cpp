// The fake adapter.
#include "fake_adapter.hpp"

#include <algorithm>
#include <cstring>

#include "adapter.hpp"

namespace etbk::fake {

Runtime& runtime() {
  static Runtime* const only = new Runtime;
  return *only;
}

namespace {

std::string& pending_text() {
  static auto* const text = new std::string;
  return *text;
}

void ETBK_CALL set_error(const EtbkHostApi*, EtbkString text) {
  pending_text().assign(text.data, text.size);
}

}  // namespace

EtbkHostApi& host_api() {
  static EtbkHostApi* const only = [] {
    auto* const api = new EtbkHostApi{};
    api->struct_size = sizeof *api;
    api->abi_major = ETBK_ABI_MAJOR;
    api->abi_minor = ETBK_ABI_MINOR;
    api->name = {"ExecuTorch", 10};
    api->runtime_version = {"1.5.1", 5};
    api->set_error = set_error;
    return api;
  }();
  return *only;
}

void fill(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    runtime().names.push_back("Builtin" + std::to_string(i));
    runtime().backends.push_back(nullptr);
  }
}

}  // namespace etbk::fake

namespace etbk::adapter {

using fake::runtime;

const EtbkHostApi* host_api() { return &fake::host_api(); }

bool validate(const EtbkBackendApi* backend, const char** reason) {
  *reason = nullptr;
  if (backend == nullptr) {
    *reason = "the backend table is null";
  } else if (!ETBK_HAS(backend, EtbkBackendApi, destroy)) {
    *reason = "the backend table's struct_size is smaller than the required part";
  } else if (backend->info == nullptr) {
    *reason = "the backend has no info";
  } else if (!ETBK_HAS(backend->info, EtbkBackendInfo, capabilities)) {
    *reason = "the backend info's struct_size is smaller than the required part";
  } else if (backend->init == nullptr || backend->execute == nullptr ||
             backend->destroy == nullptr) {
    *reason = "one of init, execute and destroy is null";
  }
  return *reason == nullptr;
}

Registration register_backend(const EtbkBackendApi* backend, unsigned* runtime_error) {
  fake::Runtime& registry = runtime();
  *runtime_error = 0;
  const std::string id(backend->info->id.data, backend->info->id.size);
  const auto known = std::find(registry.names.begin(), registry.names.end(), id);
  if (known != registry.names.end()) {
    const auto slot = static_cast<std::size_t>(known - registry.names.begin());
    return registry.backends[slot] == backend ? Registration::kAlreadyOurs
                                              : Registration::kDuplicateId;
  }
  if (registry.names.size() >= registry.slots) {
    return Registration::kTableFull;
  }
  if (registry.refuses_with != 0) {
    *runtime_error = registry.refuses_with;
    return Registration::kRuntimeError;
  }
  if (registry.forgets) {
    return Registration::kInvisible;
  }
  registry.names.push_back(id);
  registry.backends.push_back(backend);
  return Registration::kRegistered;
}

std::size_t registered_count() { return runtime().names.size(); }

const char* registered_name(std::size_t slot) { return runtime().names[slot].c_str(); }

const void* register_backend_address() { return reinterpret_cast<const void*>(&register_backend); }

std::size_t take_pending_text(char* buffer, std::size_t capacity) {
  const std::size_t size = fake::pending_text().copy(buffer, capacity - 1);
  buffer[size] = '\0';
  fake::pending_text().clear();
  return size;
}

const char* last_error() { return "the fake never fails"; }

std::size_t recent_errors(ErrorRecord* records, std::size_t capacity) {
  if (capacity == 0) {
    return 0;
  }
  records[0] = {};
  records[0].sequence = 7;
  std::strcpy(records[0].backend, "FakeGood");
  std::strcpy(records[0].stage, "init");
  records[0].status = ETBK_STATUS_NOT_FOUND;
  std::strcpy(records[0].text, "no \"device\" \xff here");
  return 1;
}

Counters counters() { return {3, 2, 1}; }

EtbkStatus set_option(const char*, const EtbkOption* option) {
  return option->key.size == 5 ? ETBK_STATUS_OK : ETBK_STATUS_NOT_FOUND;
}

EtbkStatus get_option(const char*, EtbkOption* option) {
  option->number = 42;
  option->text = {"quiet", 5};
  return option->key.size == 5 ? ETBK_STATUS_OK : ETBK_STATUS_NOT_FOUND;
}

}  // namespace etbk::adapter
