// Cost of the plugin boundary: the same backends directly on BackendInterface and as a plugin.
//
//   host_bench PLUGIN count FORM N          N executes of one form, for an instruction counter
//   host_bench PLUGIN time ROUNDS N         interleaved rounds of N executes of each form; one line
//                                           of nanoseconds per execute a round
// FORM is one of direct-noop, plugin-noop, direct-add, plugin-add.
#include <dlfcn.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "adapter.hpp"
#include "add.h"

namespace {

namespace rt = ::executorch::runtime;
namespace aten = ::executorch::aten;

constexpr size_t kTensors = 4;

class DirectBackend : public rt::BackendInterface {
 public:
  bool is_available() const override { return true; }
  rt::Result<rt::DelegateHandle*> init(rt::BackendInitContext&, rt::FreeableBuffer*,
                                       rt::ArrayRef<rt::CompileSpec>) const override {
    return static_cast<rt::DelegateHandle*>(nullptr);
  }
};

class DirectNoop final : public DirectBackend {
 public:
  rt::Error execute(rt::BackendExecutionContext&, rt::DelegateHandle*,
                    rt::Span<rt::EValue*>) const override {
    return rt::Error::Ok;
  }
};

class DirectAdd final : public DirectBackend {
 public:
  rt::Error execute(rt::BackendExecutionContext&, rt::DelegateHandle*,
                    rt::Span<rt::EValue*> args) const override {
    if (args.size() != kTensors) {
      return rt::Error::InvalidArgument;
    }
    for (const rt::EValue* arg : args) {
      if (!arg->isTensor() || arg->toTensor().nbytes() != ADD_COUNT * sizeof(float)) {
        return rt::Error::InvalidArgument;
      }
    }
    add(args[0]->toTensor().const_data_ptr<float>(), args[1]->toTensor().const_data_ptr<float>(),
        args[2]->toTensor().const_data_ptr<float>(), args[3]->toTensor().mutable_data_ptr<float>());
    return rt::Error::Ok;
  }
};

// Four static tensors of 64 floats and what ExecuTorch passes with them.
struct Call {
  std::array<std::array<float, ADD_COUNT>, kTensors> data{};
  std::array<int32_t, 2> sizes{1, ADD_COUNT};
  std::array<int32_t, 2> strides{ADD_COUNT, 1};
  std::array<uint8_t, 2> order{0, 1};
  std::array<rt::EValue, kTensors> values;
  std::array<rt::EValue*, kTensors> pointers{};
  rt::BackendExecutionContext context;

  Call() {
    for (size_t i = 0; i < kTensors; ++i) {
      auto* impl = new aten::TensorImpl(aten::ScalarType::Float, 2, sizes.data(), data[i].data(),
                                        order.data(), strides.data());
      values[i] = rt::EValue(aten::Tensor(impl));
      pointers[i] = &values[i];
    }
  }
};

struct Form {
  const char* name;
  rt::BackendInterface* backend;
  rt::DelegateHandle* handle;
};

[[noreturn]] void stop(const char* message) {
  std::fprintf(stderr, "host_bench: %s\n", message);
  std::exit(1);
}

rt::DelegateHandle* initialize(rt::BackendInterface& backend) {
  static rt::MemoryAllocator allocator(0, nullptr);
  rt::BackendInitContext context(&allocator);
  rt::FreeableBuffer blob("blob", 4, nullptr);
  auto handle = backend.init(context, &blob, {});
  if (!handle.ok()) {
    stop("init failed");
  }
  return handle.get();
}

void load_plugin(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    stop(dlerror());
  }
  auto* const entry = reinterpret_cast<EtbkPluginEntry>(dlsym(library, ETBK_PLUGIN_ENTRY_SYMBOL));
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof plugin;
  if (entry == nullptr || entry(etbk::adapter::host_api(), &plugin) != ETBK_STATUS_OK) {
    stop("the plugin's entry failed");
  }
  for (uint32_t i = 0; i < plugin.backend_count; ++i) {
    unsigned error = 0;
    if (etbk::adapter::register_backend(plugin.backends[i], &error) !=
        etbk::adapter::Registration::kRegistered) {
      stop("registration failed");
    }
  }
}

void execute(const Form& form, Call& call, long count) {
  rt::BackendInterface* volatile backend = form.backend;
  bool bad = false;
  for (long i = 0; i < count; ++i) {
    bad |= backend->execute(call.context, form.handle, {call.pointers.data(), kTensors}) !=
           rt::Error::Ok;
  }
  if (bad) {
    stop("execute failed");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    stop("usage: host_bench PLUGIN count FORM N | host_bench PLUGIN time ROUNDS N");
  }
  rt::runtime_init();
  load_plugin(argv[1]);
  static DirectNoop direct_noop;
  static DirectAdd direct_add;
  std::array<Form, 4> forms{{
      {"direct-noop", &direct_noop, nullptr},
      {"plugin-noop", rt::get_backend_class("PluginNoop"), nullptr},
      {"direct-add", &direct_add, nullptr},
      {"plugin-add", rt::get_backend_class("PluginAdd"), nullptr},
  }};
  Call call;
  for (Form& form : forms) {
    form.handle = initialize(*form.backend);
    execute(form, call, 10);  // descriptors are filled on the first one
  }
  if (std::strcmp(argv[2], "count") == 0) {
    for (const Form& form : forms) {
      if (std::strcmp(form.name, argv[3]) == 0) {
        execute(form, call, std::atol(argv[4]));
        return 0;
      }
    }
    stop("unknown form");
  }
  const long rounds = std::atol(argv[3]);
  const long count = std::atol(argv[4]);
  const etbk::adapter::Counters before = etbk::adapter::counters();
  for (long round = 0; round < rounds; ++round) {
    for (const Form& form : forms) {
      const auto start = std::chrono::steady_clock::now();
      execute(form, call, count);
      const std::chrono::duration<double, std::nano> spent =
          std::chrono::steady_clock::now() - start;
      std::printf("%.3f ", spent.count() / static_cast<double>(count));
    }
    std::printf("\n");
  }
  const etbk::adapter::Counters after = etbk::adapter::counters();
  if (after.heap_allocations != before.heap_allocations ||
      after.descriptor_refreshes != before.descriptor_refreshes) {
    stop("the steady state allocated or refreshed descriptors");
  }
  return 0;
}
