// See scripted_backend.hpp.
#include "scripted_backend.hpp"

#include <gtest/gtest.h>

namespace etbk::test {
namespace {

ScriptedBackend& of(const EtbkBackendApi* self) {
  return *static_cast<ScriptedBackend*>(self->user_data);
}

EtbkStatus is_available(const EtbkHostApi* host, const EtbkBackendApi* self) {
  return of(self).on_available ? of(self).on_available(host) : ETBK_STATUS_OK;
}

EtbkStatus check_blob(const EtbkHostApi* host, const EtbkBackendApi* self, EtbkBytes head, uint64_t,
                      uint32_t* grade) {
  return of(self).on_check_blob ? of(self).on_check_blob(host, head, grade) : ETBK_STATUS_OK;
}

EtbkStatus init(const EtbkHostApi* host, const EtbkBackendApi* self, const EtbkInit* call,
                void** handle) {
  *handle = &of(self);
  return of(self).on_init ? of(self).on_init(host, call, handle) : ETBK_STATUS_OK;
}

EtbkStatus execute(const EtbkHostApi* host, const EtbkExecution* call, void* handle) {
  ScriptedBackend& backend = *static_cast<ScriptedBackend*>(handle);
  return backend.on_execute ? backend.on_execute(host, call) : ETBK_STATUS_OK;
}

void destroy(const EtbkHostApi*, void* handle) {
  ++static_cast<ScriptedBackend*>(handle)->destroyed;
}

EtbkStatus set_option(const EtbkHostApi* host, const EtbkBackendApi* self,
                      const EtbkOption* option) {
  return of(self).on_set_option ? of(self).on_set_option(host, option) : ETBK_STATUS_NOT_FOUND;
}

EtbkStatus get_option(const EtbkHostApi* host, const EtbkBackendApi* self, EtbkOption* option) {
  return of(self).on_get_option ? of(self).on_get_option(host, option) : ETBK_STATUS_NOT_FOUND;
}

}  // namespace

ScriptedBackend::ScriptedBackend(const std::string& id, uint32_t concurrency) : id_(id) {
  info_.struct_size = sizeof info_;
  info_.concurrency = concurrency;
  info_.id = {id_.data(), id_.size()};
  info_.vendor = text("Test");
  info_.version = text("1.0.0");
  api_.struct_size = sizeof api_;
  api_.info = &info_;
  api_.user_data = this;
  api_.is_available = is_available;
  api_.check_blob = check_blob;
  api_.init = init;
  api_.execute = execute;
  api_.destroy = destroy;
  api_.set_option = set_option;
  api_.get_option = get_option;
}

rt::BackendInterface* ScriptedBackend::runtime_backend() const {
  return rt::get_backend_class(id_.c_str());
}

size_t Arguments::tensor(std::vector<int32_t> sizes, rt::TensorShapeDynamism dynamism) {
  Storage& s = storage_.emplace_back();
  size_t count = 1;
  s.strides.resize(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    s.strides[d] = static_cast<int32_t>(count);
    count *= static_cast<size_t>(sizes[d]);
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    s.order.push_back(static_cast<uint8_t>(d));
  }
  s.sizes = std::move(sizes);
  s.data.resize(count);
  impls_.emplace_back(aten::ScalarType::Float, static_cast<ssize_t>(s.sizes.size()), s.sizes.data(),
                      s.data.data(), s.order.data(), s.strides.data(), dynamism);
  return value(rt::EValue(aten::Tensor(&impls_.back())));
}

size_t Arguments::value(rt::EValue value) {
  values_.push_back(value);
  pointers_.push_back(&values_.back());
  return values_.size() - 1;
}

rt::Span<rt::EValue*> Arguments::span() { return {pointers_.data(), pointers_.size()}; }

Delegate::Delegate(const ScriptedBackend& backend, std::vector<rt::CompileSpec> specs,
                   const rt::NamedDataMap* named_data, rt::Span<const rt::BackendOption> options)
    : backend_(backend.runtime_backend()) {
  rt::BackendInitContext context(&allocator_, nullptr, "forward", named_data, options);
  auto result = backend_->init(context, &blob_, {specs.data(), specs.size()});
  error = result.ok() ? rt::Error::Ok : result.error();
  if (result.ok()) {
    handle_ = result.get();
  }
}

Delegate::~Delegate() {
  if (handle_ != nullptr) {
    backend_->destroy(handle_);
  }
}

rt::Error Delegate::execute(Arguments& arguments, rt::MemoryAllocator* temporary,
                            rt::EventTracer* tracer) {
  rt::BackendExecutionContext context(tracer, temporary, "forward");
  return backend_->execute(context, handle_, arguments.span());
}

}  // namespace etbk::test
