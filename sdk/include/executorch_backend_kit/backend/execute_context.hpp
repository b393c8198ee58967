// ExecuTorch Backend Kit, author API: the arguments of one execute and what it may ask for.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/backend/argument.hpp>
#include <executorch_backend_kit/backend/host_context.hpp>
#include <executorch_backend_kit/backend/profiler.hpp>

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace etbk {
inline namespace author_1 {

// An element of a tensor-list argument. `descriptor` points into the host as an Argument's does.
struct TensorListItem {
  EtbkArgument descriptor;
  void* data;
};

// One execute. Inputs come first, then outputs, in the order of the delegate's graph. Valid until
// execute returns, on the thread that it was called on. The functions that read an argument do not
// check its index or, unless they return a Result, its type: check once when changed() says so.
class ExecuteContext : public HostContext {
 public:
  ExecuteContext(const EtbkHostApi* api, const EtbkExecution* execution) noexcept
      : HostContext(api), execution_(execution) {}
  ExecuteContext(const ExecuteContext&) = delete;
  ExecuteContext& operator=(const ExecuteContext&) = delete;

  const EtbkExecution* abi() const noexcept { return execution_; }

  size_t count() const noexcept { return execution_->count; }
  // True on the delegate's first execute, and whenever the shape, format, kind or list length of
  // any argument differs from the execute before (ABI-050).
  bool changed() const noexcept { return execution_->changed != 0; }

  // A tensor's first element. Const T for inputs, T for outputs.
  template <class T>
  T* data(size_t index) const noexcept {
    assert(index < execution_->count);
    return static_cast<T*>(execution_->data[index]);
  }
  // A tensor's elements at its current size, in the order of its memory.
  template <class T>
  Span<T> elements(size_t index) const noexcept {
    return {data<T>(index), execution_->arguments[index]->size_bytes / sizeof(T)};
  }
  Argument argument(size_t index) const noexcept {
    assert(index < execution_->count);
    return Argument(*execution_->arguments[index]);
  }
  Span<const int32_t> sizes(size_t index) const noexcept { return argument(index).sizes(); }

  // Fails with INVALID_ARGUMENT unless there are `wanted` arguments.
  Error check_count(size_t wanted) const {
    if (execution_->count != wanted) {
      return Error::format(ETBK_STATUS_INVALID_ARGUMENT,
                           "the delegate got %zu arguments and was compiled for %zu",
                           execution_->count, wanted);
    }
    return {};
  }
  // Fails with INVALID_ARGUMENT and a sentence naming the first difference between a tensor and
  // what the backend was compiled for.
  Error check(size_t index, const Expectation& expectation) const noexcept {
    return Error::told_by_host(api_->check_argument(api_, execution_, index, &expectation.abi()));
  }

  // Scalars and lists; INVALID_TYPE when the argument is of another kind. Lists and texts are the
  // host's and valid until execute returns.
  Result<int64_t> integer(size_t index) const {
    return scalar<int64_t>(index, ETBK_ARGUMENT_INT, "an integer");
  }
  Result<double> floating(size_t index) const {
    return scalar<double>(index, ETBK_ARGUMENT_DOUBLE, "a floating-point number");
  }
  Result<bool> boolean(size_t index) const {
    Result<unsigned char> byte = scalar<unsigned char>(index, ETBK_ARGUMENT_BOOL, "a truth value");
    if (!byte.ok()) {
      return byte.error();
    }
    return *byte != 0;
  }
  Result<std::string_view> text(size_t index) const {
    ETBK_RETURN_IF_FAILED(check_kind(index, ETBK_ARGUMENT_STRING, "a text"));
    return std::string_view(data<const char>(index), argument(index).count());
  }
  Result<Span<const int64_t>> integers(size_t index) const {
    return list<int64_t>(index, ETBK_ARGUMENT_INT_LIST, "a list of integers");
  }
  Result<Span<const double>> floatings(size_t index) const {
    return list<double>(index, ETBK_ARGUMENT_DOUBLE_LIST, "a list of floating-point numbers");
  }
  Result<Span<const unsigned char>> booleans(size_t index) const {
    return list<unsigned char>(index, ETBK_ARGUMENT_BOOL_LIST, "a list of truth values");
  }
  // Element `item` of a list of tensors.
  Result<TensorListItem> tensor_list_item(size_t index, size_t item) const {
    TensorListItem result{};
    result.descriptor.struct_size = sizeof(result.descriptor);
    const EtbkStatus status =
        api_->tensor_list_item(api_, execution_, index, item, &result.descriptor, &result.data);
    if (status != ETBK_STATUS_OK) {
      return Error::told_by_host(status);
    }
    return result;
  }

  // Writes a scalar that is an output; INVALID_TYPE when the argument is of another kind.
  Error set_integer(size_t index, int64_t value) const {
    ETBK_RETURN_IF_FAILED(check_kind(index, ETBK_ARGUMENT_INT, "an integer"));
    *data<int64_t>(index) = value;
    return {};
  }
  Error set_floating(size_t index, double value) const {
    ETBK_RETURN_IF_FAILED(check_kind(index, ETBK_ARGUMENT_DOUBLE, "a floating-point number"));
    *data<double>(index) = value;
    return {};
  }
  Error set_boolean(size_t index, bool value) const {
    ETBK_RETURN_IF_FAILED(check_kind(index, ETBK_ARGUMENT_BOOL, "a truth value"));
    *data<unsigned char>(index) = value ? 1 : 0;
    return {};
  }

  // Gives an output tensor its sizes. Fails, changing nothing, when the tensor is static and the
  // sizes differ, when the rank differs or when the bound is exceeded. Afterwards argument(index)
  // shows the new sizes; the data pointer stays.
  Error resize(size_t index, Span<const int32_t> sizes) const noexcept {
    return Error::told_by_host(
        api_->resize(api_, execution_, index, sizes.data(), static_cast<uint32_t>(sizes.size())));
  }
  Error resize(size_t index, std::initializer_list<int32_t> sizes) const noexcept {
    return resize(index, Span<const int32_t>(sizes.begin(), sizes.size()));
  }

  // Memory for `count` objects of T until execute returns; not initialized, no destructor is run.
  // NULL when none is left.
  template <class T>
  T* allocate_temporary(size_t count, size_t alignment = alignof(T)) const noexcept {
    static_assert(std::is_trivially_destructible<T>::value, "no destructor would be run");
    if (count > SIZE_MAX / sizeof(T)) {
      return nullptr;
    }
    return static_cast<T*>(
        api_->allocate_temporary(api_, execution_, count * sizeof(T), alignment));
  }

  // Profiling. `auto event = run.profile("matmul");` makes an event that lasts as long as `event`.
  Profiler profiler() const noexcept { return Profiler(api_, execution_->profiler); }
  ProfileScope profile(std::string_view name) const noexcept { return profiler().scope(name); }

 private:
  Error check_kind(size_t index, uint32_t kind, const char* wanted) const {
    if (index >= execution_->count || execution_->arguments[index]->kind != kind) {
      return Error::format(ETBK_STATUS_INVALID_TYPE, "argument %zu is not %s", index, wanted);
    }
    return {};
  }
  template <class T>
  Result<T> scalar(size_t index, uint32_t kind, const char* wanted) const {
    ETBK_RETURN_IF_FAILED(check_kind(index, kind, wanted));
    return *data<const T>(index);
  }
  template <class T>
  Result<Span<const T>> list(size_t index, uint32_t kind, const char* wanted) const {
    ETBK_RETURN_IF_FAILED(check_kind(index, kind, wanted));
    return Span<const T>(data<const T>(index), argument(index).count());
  }

  const EtbkExecution* execution_;
};

}  // namespace author_1
}  // namespace etbk
