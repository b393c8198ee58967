// Calls the execute of one backend many times: of one written on the C header, or of the same one
// written on the author API. The difference of their instruction counts is what the API costs.
//   call_cost FORM CALLS     FORM: empty, c, status, error, exception
// Licence: BSD-3-Clause.
#include <executorch_backend_kit/backend.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// The bodies are the same: one addition, and a look at `changed`.
EtbkStatus ETBK_CALL execute_in_c(const EtbkHostApi* host, const EtbkExecution* execution, void*) {
  if (execution->changed != 0 && execution->count != 4) {
    host->set_error(host, EtbkString{"wrong", 5});
    return ETBK_STATUS_INVALID_ARGUMENT;
  }
  const auto* const a = static_cast<const float*>(execution->data[0]);
  const auto* const b = static_cast<const float*>(execution->data[1]);
  const auto* const c = static_cast<const float*>(execution->data[2]);
  *static_cast<float*>(execution->data[3]) = *a + *b + *c;
  return ETBK_STATUS_OK;
}

EtbkStatus ETBK_CALL execute_nothing(const EtbkHostApi*, const EtbkExecution*, void*) {
  return ETBK_STATUS_OK;
}

void add(const etbk::ExecuteContext& run) {
  *run.data<float>(3) =
      *run.data<const float>(0) + *run.data<const float>(1) + *run.data<const float>(2);
}

struct ReturnsStatus {
  static constexpr auto info = etbk::Info("ReturnsStatus");
  explicit ReturnsStatus(const etbk::InitContext&) {}
  EtbkStatus execute(const etbk::ExecuteContext& run) {
    if (run.changed() && run.count() != 4) {
      return ETBK_STATUS_INVALID_ARGUMENT;
    }
    add(run);
    return ETBK_STATUS_OK;
  }
};

struct ReturnsError {
  static constexpr auto info = etbk::Info("ReturnsError");
  explicit ReturnsError(const etbk::InitContext&) {}
  etbk::Error execute(const etbk::ExecuteContext& run) {
    if (run.changed()) {
      ETBK_RETURN_IF_FAILED(run.check_count(4));
    }
    add(run);
    return {};
  }
};

struct Throws {
  static constexpr auto info = etbk::Info("Throws");
  explicit Throws(const etbk::InitContext&) {}
  void execute(const etbk::ExecuteContext& run) {
    if (run.changed()) {
      run.check_count(4).raise();
    }
    add(run);
  }
};

}  // namespace

ETBK_PLUGIN(call_cost, "ExecuTorch Backend Kit", "1.0.0", ReturnsStatus, ReturnsError, Throws);

int main(int count, char** values) {
  if (count != 3) {
    return 2;
  }
  EtbkHostApi host{};
  host.struct_size = sizeof(host);
  host.abi_major = ETBK_ABI_MAJOR;
  host.abi_minor = ETBK_ABI_MINOR;
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof(plugin);
  if (etbk_plugin_entry(&host, &plugin) != ETBK_STATUS_OK) {
    return 3;
  }

  const struct {
    const char* name;
    decltype(EtbkBackendApi::execute) execute;
  } forms[] = {{"empty", execute_nothing},
               {"c", execute_in_c},
               {"status", plugin.backends[0]->execute},
               {"error", plugin.backends[1]->execute},
               {"exception", plugin.backends[2]->execute}};
  float numbers[4] = {1, 2, 3, 0};
  void* data[4] = {&numbers[0], &numbers[1], &numbers[2], &numbers[3]};
  EtbkExecution execution{};
  execution.struct_size = sizeof(execution);
  execution.count = 4;
  execution.data = data;
  for (const auto& form : forms) {
    if (std::strcmp(form.name, values[1]) == 0) {
      // Volatile: each call is made, through the pointer, as a host makes it.
      decltype(EtbkBackendApi::execute) volatile execute = form.execute;
      char handle = 0;
      for (long calls = std::atol(values[2]); calls > 0; --calls) {
        if (execute(&host, &execution, &handle) != ETBK_STATUS_OK) {
          return 4;
        }
      }
      return 0;
    }
  }
  return 2;
}
