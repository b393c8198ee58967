// A backend table whose behaviour each test scripts with lambdas, and the ExecuTorch values it is
// called with.
#pragma once

#include <executorch/runtime/backend/interface.h>
#include <executorch_backend_kit/plugin.h>

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "adapter.hpp"

namespace etbk::test {

namespace rt = ::executorch::runtime;
namespace aten = ::executorch::aten;

inline EtbkString text(const char* literal) { return {literal, std::string(literal).size()}; }
inline std::string str(EtbkString s) {
  return s.data == nullptr ? "" : std::string(s.data, s.size);
}

// Registered once under its own id; the runtime keeps it for ever.
class ScriptedBackend {
 public:
  explicit ScriptedBackend(const std::string& id, uint32_t concurrency = ETBK_CONCURRENCY_HANDLES);

  // The script. What is empty answers OK.
  std::function<EtbkStatus(const EtbkHostApi*)> on_available;
  std::function<EtbkStatus(const EtbkHostApi*, EtbkBytes, uint32_t*)> on_check_blob;
  std::function<EtbkStatus(const EtbkHostApi*, const EtbkInit*, void**)> on_init;
  std::function<EtbkStatus(const EtbkHostApi*, const EtbkExecution*)> on_execute;
  std::function<EtbkStatus(const EtbkHostApi*, const EtbkOption*)> on_set_option;
  std::function<EtbkStatus(const EtbkHostApi*, EtbkOption*)> on_get_option;
  int destroyed = 0;

  const EtbkBackendApi* table() const { return &api_; }
  EtbkBackendApi& mutable_table() { return api_; }
  rt::BackendInterface* runtime_backend() const;

 private:
  std::string id_;
  EtbkBackendInfo info_{};
  EtbkBackendApi api_{};
};

// A delegate's arguments, as a method would hold them.
class Arguments {
 public:
  // A float tensor with memory for `sizes`.
  size_t tensor(std::vector<int32_t> sizes,
                rt::TensorShapeDynamism dynamism = rt::TensorShapeDynamism::STATIC);
  size_t value(rt::EValue value);

  rt::Span<rt::EValue*> span();
  rt::EValue& operator[](size_t i) { return values_[i]; }
  aten::TensorImpl& impl(size_t i) { return *values_[i].toTensor().unsafeGetTensorImpl(); }
  float* data(size_t i) { return impl(i).mutable_data<float>(); }

 private:
  struct Storage {
    std::vector<int32_t> sizes, strides;
    std::vector<uint8_t> order;
    std::vector<float> data;
  };
  std::deque<Storage> storage_;
  std::deque<aten::TensorImpl> impls_;
  std::deque<rt::EValue> values_;
  std::vector<rt::EValue*> pointers_;
};

// A loaded delegate: init on construction, destroy on destruction.
class Delegate {
 public:
  explicit Delegate(const ScriptedBackend& backend, std::vector<rt::CompileSpec> specs = {},
                    const rt::NamedDataMap* named_data = nullptr,
                    rt::Span<const rt::BackendOption> options = {});
  ~Delegate();
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;

  rt::Error error = rt::Error::Ok;  // of init
  rt::Error execute(Arguments& arguments, rt::MemoryAllocator* temporary = nullptr,
                    rt::EventTracer* tracer = nullptr);

 private:
  std::vector<uint8_t> arena_ = std::vector<uint8_t>(65536);
  rt::MemoryAllocator allocator_{65536, arena_.data()};
  rt::FreeableBuffer blob_{"blob bytes", 10, nullptr};
  rt::BackendInterface* backend_;
  rt::DelegateHandle* handle_ = nullptr;
};

}  // namespace etbk::test
