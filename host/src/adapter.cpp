// The adapter: the only source that includes ExecuTorch headers.
//
// Turns a table of the plugin ABI into a BackendInterface. It compiles unchanged against every
// supported ExecuTorch release and, with plugin.h and adapter.hpp, is a complete host for a
// program without a dynamic loader. Definitions that change it:
//   ETBK_HOST_NO_HEAP         take all memory from the method's allocator; at most
//                             ETBK_HOST_MAX_ARGUMENTS arguments per delegate call (default 32)
//   ETBK_HOST_NO_THREADS      no thread-local storage and no locks: one thread uses the runtime
//   ETBK_HOST_CORE_ONLY       the library that holds the registry exports the core alone (the 1.4
//                             wheel): resize through TensorImpl, no lists of optional tensors
//   ETBK_EXECUTORCH_VERSION   the release compiled against, as text: "1.5.1"
//
// What execute costs: per tensor argument one comparison and two loads. Descriptors are filled on
// a handle's first execute and refreshed when a size changed; nothing else grows with anything.
// Licence: BSD-3-Clause.
#include "adapter.hpp"

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch_backend_kit/envelope.h>
#include <executorch_backend_kit/host.h>

#include <atomic>
#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#ifndef ETBK_HOST_NO_THREADS
#include <mutex>
#endif

#ifndef ETBK_EXECUTORCH_VERSION
#error "define ETBK_EXECUTORCH_VERSION as the ExecuTorch release, for example \"1.5.1\""
#endif

#ifdef ET_USE_THREADPOOL
// The pool's header is not installed with ExecuTorch; these are the parts of it used here.
extern "C" {
struct pthreadpool;
void pthreadpool_parallelize_1d(pthreadpool*, void (*)(void*, size_t), void*, size_t, uint32_t);
size_t pthreadpool_get_threads_count(pthreadpool*);
}
namespace executorch::extension::threadpool {
::pthreadpool* get_pthreadpool();
}
#endif

#ifdef ETBK_HOST_CORE_ONLY
// ExecuTorch declares this class as TensorImpl's friend and defines it only in its own sources.
namespace executorch::runtime::internal {
class TensorResizerFriend {
 public:
  static Error etbk_resize(etensor::TensorImpl* impl, ArrayRef<etensor::TensorImpl::SizesType> s) {
    return impl->internal_resize_contiguous(s);
  }
};
}  // namespace executorch::runtime::internal
#endif

namespace etbk::adapter {
namespace {

namespace rt = ::executorch::runtime;
using Tensor = ::executorch::aten::Tensor;
using TensorImpl = std::remove_pointer_t<decltype(std::declval<Tensor>().unsafeGetTensorImpl())>;
using rt::Error;
using rt::EValue;
using rt::Tag;

// ------------------------------------------------------------------------------------------------
// Threads

#ifdef ETBK_HOST_NO_THREADS
#define ETBK_THREAD_LOCAL
struct Mutex {
  void lock() {}
  void unlock() {}
};
struct Lock {
  explicit Lock(Mutex&) {}
};
#else
#define ETBK_THREAD_LOCAL thread_local
using Mutex = std::mutex;
using Lock = std::lock_guard<std::mutex>;
#endif

// ------------------------------------------------------------------------------------------------
// Text and errors

constexpr size_t kTextBytes = 1024;
#ifdef ETBK_HOST_NO_HEAP
constexpr size_t kErrorRecords = 8;
#else
constexpr size_t kErrorRecords = 64;
#endif

ETBK_THREAD_LOCAL char pending_text[kTextBytes];     // by set_error, for the status to come
ETBK_THREAD_LOCAL char last_error_text[kTextBytes];  // of the last failed call

struct ErrorRing {
  Mutex mutex;
  unsigned long long next = 0;
  ErrorRecord records[kErrorRecords];
};

// Never destroyed: methods may be freed, and fail, after static destructors have run.
ErrorRing& error_ring() {
  alignas(ErrorRing) static unsigned char storage[sizeof(ErrorRing)];
  static ErrorRing* const ring = new (storage) ErrorRing;
  return *ring;
}

void copy_text(char* destination, size_t capacity, EtbkString text) {
  const size_t size = text.size < capacity - 1 ? text.size : capacity - 1;
  if (size != 0) {
    std::memcpy(destination, text.data, size);
  }
  destination[size] = '\0';
}

// Length of the UTF-8 character that `text` begins with; 0 if it is none.
size_t utf8_length(const unsigned char* text) {
  const size_t length = text[0] < 0x80                       ? 1
                        : text[0] >= 0xc2 && text[0] < 0xe0  ? 2
                        : text[0] >= 0xe0 && text[0] < 0xf0  ? 3
                        : text[0] >= 0xf0 && text[0] <= 0xf4 ? 4
                                                             : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
  const bool no_character =
      (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f);
  return overlong || no_character ? 0 : length;
}

// Puts a question mark for each byte that is not UTF-8. Texts may quote damaged blobs, and
// ExecuTorch's Python side ends the process on a log line that is not UTF-8.
void make_utf8(char* text) {
  while (*text != '\0') {
    const size_t length = utf8_length(reinterpret_cast<const unsigned char*>(text));
    if (length == 0) {
      *text = '?';
    }
    text += length == 0 ? 1 : length;
  }
}

EtbkString view(const char* text) { return {text, text == nullptr ? 0 : std::strlen(text)}; }

[[gnu::format(printf, 2, 3)]] EtbkStatus fail(EtbkStatus status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(pending_text, sizeof pending_text, format, arguments);
  va_end(arguments);
  return status;
}

const char* status_name(EtbkStatus status) {
  switch (status) {
#define ETBK_CASE(name, value, text) \
  case value:                        \
    return text;
    ETBK_STATUS_LIST(ETBK_CASE)
#undef ETBK_CASE
    default:
      return "unknown status";
  }
}

// ExecuTorch's code for a plugin's status. Its own codes pass unchanged.
Error to_error(EtbkStatus status) {
  switch (status) {
    case ETBK_STATUS_HOST_TOO_OLD:
    case ETBK_STATUS_HOST_TOO_NEW:
      return Error::NotSupported;
    case ETBK_STATUS_UNAVAILABLE:
      return Error::NotFound;
#define ETBK_CASE(name, value, text) case value:
      ETBK_RUNTIME_STATUS_LIST(ETBK_CASE)
#undef ETBK_CASE
      return static_cast<Error>(status);
    default:
      return Error::Internal;
  }
}

EtbkStatus to_status(Error error) { return static_cast<EtbkStatus>(error); }

// Moves the pending text into the thread's last error and the process's ring, and logs it.
Error record(const char* backend, const char* stage, EtbkStatus status) {
  if (pending_text[0] == '\0') {
    std::snprintf(last_error_text, sizeof last_error_text,
                  "%s: %s failed without a text: %s (0x%x)", backend, stage, status_name(status),
                  static_cast<unsigned>(status));
  } else {
    std::snprintf(last_error_text, sizeof last_error_text, "%s: %s: %.*s", backend, stage,
                  static_cast<int>(sizeof last_error_text - 96), pending_text);
    pending_text[0] = '\0';
  }
  make_utf8(last_error_text);
  ErrorRing& ring = error_ring();
  {
    const Lock lock(ring.mutex);
    ErrorRecord& entry = ring.records[ring.next % kErrorRecords];
    entry.sequence = ++ring.next;
    copy_text(entry.backend, sizeof entry.backend, view(backend));
    copy_text(entry.stage, sizeof entry.stage, view(stage));
    entry.status = status;
    copy_text(entry.text, sizeof entry.text, view(last_error_text));
  }
  ET_LOG(Error, "%s", last_error_text);
  return to_error(status);
}

// ------------------------------------------------------------------------------------------------
// What differs between ExecuTorch releases, found at compile time

template <typename Context>
auto runtime_specs(Context& context, int) -> decltype(context.runtime_specs()) {
  return context.runtime_specs();  // 1.2 and later
}
template <typename Context>
rt::Span<const rt::BackendOption> runtime_specs(Context&, long) {
  return {};
}

template <typename Buffer>
auto blob_data(const Buffer& buffer, int) -> decltype(buffer.data_safe()) {
  return buffer.data_safe();  // cannot abort
}
template <typename Buffer>
rt::Result<const void*> blob_data(const Buffer& buffer, long) {
  return buffer.data();
}

template <typename Impl>
auto device_of(const Impl& impl, EtbkArgument& argument, int) -> decltype(impl.device(), void()) {
  argument.device_type = static_cast<uint32_t>(impl.device().type());  // 1.3 and later
  argument.device_index = impl.device().index();
}
template <typename Impl>
void device_of(const Impl&, EtbkArgument& argument, long) {
  argument.device_type = ETBK_DEVICE_CPU;
  argument.device_index = 0;
}

// List accessors that return an error where the older ones abort on a damaged program.
#define ETBK_LIST_ACCESSOR(name, safe, older, type)                               \
  template <typename Value>                                                       \
  auto name(const Value& value, int)->decltype(value.safe()) {                    \
    return value.safe();                                                          \
  }                                                                               \
  template <typename Value>                                                       \
  rt::Result<::executorch::aten::ArrayRef<type>> name(const Value& value, long) { \
    return value.older();                                                         \
  }
ETBK_LIST_ACCESSOR(int_list, tryToIntList, toIntList, int64_t)
ETBK_LIST_ACCESSOR(double_list, tryToDoubleList, toDoubleList, double)
ETBK_LIST_ACCESSOR(bool_list, tryToBoolList, toBoolList, bool)
ETBK_LIST_ACCESSOR(tensor_list, tryToTensorList, toTensorList, Tensor)
#ifndef ETBK_HOST_CORE_ONLY
ETBK_LIST_ACCESSOR(optional_tensor_list, tryToListOptionalTensor, toListOptionalTensor,
                   std::optional<Tensor>)
#endif
#undef ETBK_LIST_ACCESSOR

// ------------------------------------------------------------------------------------------------
// Memory

std::atomic<unsigned long long> heap_allocations{0};

#ifndef ETBK_HOST_NO_HEAP
// Rounds `address` up to a multiple of `alignment`, a power of two.
uintptr_t align_up(uintptr_t address, size_t alignment) {
  return (address + alignment - 1) & ~static_cast<uintptr_t>(alignment - 1);
}
#endif

// A block from the heap, linked so that execute can free what it took.
struct HeapBlock {
  HeapBlock* next;
  void* allocation;
};

bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

// ------------------------------------------------------------------------------------------------
// One delegate call site: the handle given to ExecuTorch

// `Handle::steady_count` of a handle whose calls all need a closer look.
constexpr size_t kNeverSteady = SIZE_MAX;

struct Handle : EtbkExecution {
  const EtbkBackendApi* backend = nullptr;
  const char* id = nullptr;
  void* plugin_handle = nullptr;
  EtbkStatus(ETBK_CALL* execute)(const EtbkHostApi*, const EtbkExecution*, void*) = nullptr;
  Mutex* serial = nullptr;  // of a backend that declared no concurrency
  bool described = false;
  // Number of arguments if all are static tensors, already described, of a backend that needs no
  // lock; then execute has only the data pointers to fill in.
  size_t steady_count = kNeverSteady;

  // Set for the execute in progress.
  EValue** values = nullptr;
  HeapBlock* temporary = nullptr;
  rt::BackendExecutionContext* context = nullptr;

  // Parallel arrays of `capacity` entries.
  size_t capacity = 0;
  void** pointers = nullptr;
  const TensorImpl** impls = nullptr;  // null: not a tensor, or never seen
  int32_t** seen_sizes = nullptr;      // sizes at the last look, of tensors that may change
  EtbkArgument* descriptors = nullptr;
  const EtbkArgument** descriptor_pointers = nullptr;
  size_t* dynamic = nullptr;  // indices of tensors whose sizes may change
  size_t dynamic_count = 0;

  std::atomic<unsigned long long> executes{0};
  std::atomic<unsigned long long> refreshes{0};
  Handle* previous = nullptr;
  Handle* next = nullptr;

#ifdef ETBK_HOST_NO_HEAP
#ifndef ETBK_HOST_MAX_ARGUMENTS
#define ETBK_HOST_MAX_ARGUMENTS 32
#endif
  void* inline_pointers[ETBK_HOST_MAX_ARGUMENTS];
  const TensorImpl* inline_impls[ETBK_HOST_MAX_ARGUMENTS];
  int32_t* inline_seen_sizes[ETBK_HOST_MAX_ARGUMENTS];
  EtbkArgument inline_descriptors[ETBK_HOST_MAX_ARGUMENTS];
  const EtbkArgument* inline_descriptor_pointers[ETBK_HOST_MAX_ARGUMENTS];
  size_t inline_dynamic[ETBK_HOST_MAX_ARGUMENTS];
  int32_t inline_sizes[ETBK_HOST_MAX_ARGUMENTS][::executorch::runtime::kTensorDimensionLimit];
#endif
};

// All live handles, for the counters.
struct HandleList {
  Mutex mutex;
  Handle* first = nullptr;
  unsigned long long retired_executes = 0;
  unsigned long long retired_refreshes = 0;
};

HandleList& handle_list() {
  alignas(HandleList) static unsigned char storage[sizeof(HandleList)];
  static HandleList* const list = new (storage) HandleList;
  return *list;
}

void increment(std::atomic<unsigned long long>& counter) {
  // One thread at a time uses a handle, so no read-modify-write is needed.
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

#ifdef ETBK_HOST_NO_HEAP
bool reserve(Handle& handle, size_t count) {
  if (count > ETBK_HOST_MAX_ARGUMENTS) {
    return false;
  }
  handle.capacity = ETBK_HOST_MAX_ARGUMENTS;
  handle.pointers = handle.inline_pointers;
  handle.impls = handle.inline_impls;
  handle.seen_sizes = handle.inline_seen_sizes;
  handle.descriptors = handle.inline_descriptors;
  handle.descriptor_pointers = handle.inline_descriptor_pointers;
  handle.dynamic = handle.inline_dynamic;
  for (size_t i = 0; i < count; ++i) {
    handle.seen_sizes[i] = handle.inline_sizes[i];
  }
  return true;
}
#else
void release_arrays(Handle& handle) {
  for (size_t i = 0; i < handle.capacity; ++i) {
    delete[] handle.seen_sizes[i];
  }
  delete[] handle.pointers;
  delete[] handle.impls;
  delete[] handle.seen_sizes;
  delete[] handle.descriptors;
  delete[] handle.descriptor_pointers;
  delete[] handle.dynamic;
  handle.capacity = 0;
}

// Room for `count` arguments; what was known of the old ones is dropped.
bool reserve(Handle& handle, size_t count) {
  if (count <= handle.capacity) {
    return true;
  }
  release_arrays(handle);
  handle.pointers = new (std::nothrow) void*[count]();
  handle.impls = new (std::nothrow) const TensorImpl*[count]();
  handle.seen_sizes = new (std::nothrow) int32_t*[count]();
  handle.descriptors = new (std::nothrow) EtbkArgument[count]();
  handle.descriptor_pointers = new (std::nothrow) const EtbkArgument*[count]();
  handle.dynamic = new (std::nothrow) size_t[count]();
  heap_allocations.fetch_add(6, std::memory_order_relaxed);
  if (handle.pointers == nullptr || handle.impls == nullptr || handle.seen_sizes == nullptr ||
      handle.descriptors == nullptr || handle.descriptor_pointers == nullptr ||
      handle.dynamic == nullptr) {
    release_arrays(handle);
    return false;
  }
  handle.capacity = count;
  return true;
}
#endif

uint32_t kind_of(Tag tag) {
  switch (tag) {
    case Tag::None:
      return ETBK_ARGUMENT_NONE;
    case Tag::Tensor:
      return ETBK_ARGUMENT_TENSOR;
    case Tag::Int:
      return ETBK_ARGUMENT_INT;
    case Tag::Double:
      return ETBK_ARGUMENT_DOUBLE;
    case Tag::Bool:
      return ETBK_ARGUMENT_BOOL;
    case Tag::String:
      return ETBK_ARGUMENT_STRING;
    case Tag::ListInt:
      return ETBK_ARGUMENT_INT_LIST;
    case Tag::ListDouble:
      return ETBK_ARGUMENT_DOUBLE_LIST;
    case Tag::ListBool:
      return ETBK_ARGUMENT_BOOL_LIST;
    case Tag::ListTensor:
      return ETBK_ARGUMENT_TENSOR_LIST;
#ifndef ETBK_HOST_CORE_ONLY
    case Tag::ListOptionalTensor:
      return ETBK_ARGUMENT_TENSOR_LIST;
#endif
    default:
      return ETBK_ARGUMENT_OTHER;
  }
}

uint32_t dynamism_of(const TensorImpl& impl) {
  switch (impl.shape_dynamism()) {
    case rt::TensorShapeDynamism::STATIC:
      return ETBK_DYNAMISM_STATIC;
    case rt::TensorShapeDynamism::DYNAMIC_BOUND:
      return ETBK_DYNAMISM_BOUNDED;
    default:
      return ETBK_DYNAMISM_UNBOUND;
  }
}

void describe_tensor(const TensorImpl& impl, EtbkArgument& argument) {
  argument.dtype = static_cast<uint32_t>(impl.scalar_type());
  argument.rank = static_cast<uint32_t>(impl.dim());
  argument.sizes = impl.sizes().data();
  argument.strides = impl.strides().data();
  argument.dim_order = impl.dim_order().data();
  argument.size_bytes = impl.nbytes();
  argument.dynamism = dynamism_of(impl);
  // ExecuTorch does not tell the bound of a dynamic tensor.
  argument.capacity_bytes = argument.dynamism == ETBK_DYNAMISM_STATIC ? argument.size_bytes : 0;
  device_of(impl, argument, 0);
}

bool accepts_device(const EtbkBackendInfo& info, uint32_t device_type) {
  const uint32_t accepted = info.device_types == 0 ? 1u : info.device_types;
  return device_type < 32 && ((accepted >> device_type) & 1u) != 0;
}

// Pointer and element count of an argument that is not a tensor.
EtbkStatus read_value(EValue& value, size_t index, void*& pointer, size_t& count) {
  pointer = nullptr;
  count = 0;
  const auto take = [&](const auto& list) -> EtbkStatus {
    if (!list.ok()) {
      return fail(ETBK_STATUS_INVALID_PROGRAM, "argument %zu is a damaged list", index);
    }
    count = list->size();
    using Element = std::remove_const_t<std::remove_pointer_t<decltype(list->data())>>;
    pointer = const_cast<Element*>(list->data());
    return ETBK_STATUS_OK;
  };
  switch (value.tag) {
    case Tag::Int:
      pointer = &value.payload.copyable_union.as_int;
      return ETBK_STATUS_OK;
    case Tag::Double:
      pointer = &value.payload.copyable_union.as_double;
      return ETBK_STATUS_OK;
    case Tag::Bool:
      pointer = &value.payload.copyable_union.as_bool;
      return ETBK_STATUS_OK;
    case Tag::String:
      if (value.payload.copyable_union.as_string_ptr == nullptr) {
        return fail(ETBK_STATUS_INVALID_PROGRAM, "argument %zu is a damaged string", index);
      }
      count = value.payload.copyable_union.as_string_ptr->size();
      pointer = const_cast<char*>(value.payload.copyable_union.as_string_ptr->data());
      return ETBK_STATUS_OK;
    case Tag::ListInt:
      return take(int_list(value, 0));
    case Tag::ListDouble:
      return take(double_list(value, 0));
    case Tag::ListBool:
      return take(bool_list(value, 0));
    // The elements of tensor lists are asked for one by one.
    case Tag::ListTensor: {
      const EtbkStatus status = take(tensor_list(value, 0));
      pointer = nullptr;
      return status;
    }
#ifndef ETBK_HOST_CORE_ONLY
    case Tag::ListOptionalTensor: {
      const EtbkStatus status = take(optional_tensor_list(value, 0));
      pointer = nullptr;
      return status;
    }
#endif
    default:
      return ETBK_STATUS_OK;
  }
}

// Remembers the sizes of a tensor that may change. False when memory is exhausted.
bool remember_sizes(int32_t*& seen, const TensorImpl& impl) {
#ifndef ETBK_HOST_NO_HEAP
  if (seen == nullptr) {
    seen = new (std::nothrow) int32_t[rt::kTensorDimensionLimit]();
    heap_allocations.fetch_add(1, std::memory_order_relaxed);
    if (seen == nullptr) {
      return false;
    }
  }
#endif
  std::memcpy(seen, impl.sizes().data(), impl.sizes().size() * sizeof *seen);
  return true;
}

bool sizes_differ(const int32_t* seen, const TensorImpl& impl) {
  return std::memcmp(seen, impl.sizes().data(), impl.sizes().size() * sizeof *seen) != 0;
}

// Describes one argument anew.
EtbkStatus describe(Handle& handle, size_t index) {
  EValue& value = *handle.values[index];
  EtbkArgument& argument = handle.descriptors[index];
  argument = EtbkArgument{};
  argument.struct_size = sizeof(EtbkArgument);
  argument.kind = kind_of(value.tag);
  handle.descriptor_pointers[index] = &argument;
  handle.impls[index] = nullptr;
  if (value.tag != Tag::Tensor) {
    return read_value(value, index, handle.pointers[index], argument.count);
  }
  const TensorImpl& impl = *value.toTensor().unsafeGetTensorImpl();
  if (static_cast<size_t>(impl.dim()) > rt::kTensorDimensionLimit) {
    return fail(ETBK_STATUS_NOT_SUPPORTED, "argument %zu has %zu dimensions; at most %zu work",
                index, static_cast<size_t>(impl.dim()),
                static_cast<size_t>(rt::kTensorDimensionLimit));
  }
  describe_tensor(impl, argument);
  if (!accepts_device(*handle.backend->info, argument.device_type)) {
    return fail(ETBK_STATUS_NOT_SUPPORTED,
                "argument %zu lies on device type %u, which the backend does not accept; keep it "
                "on the CPU or export without device placement",
                index, argument.device_type);
  }
  if (argument.dynamism != ETBK_DYNAMISM_STATIC) {
    if (!remember_sizes(handle.seen_sizes[index], impl)) {
      return fail(ETBK_STATUS_OUT_OF_MEMORY, "no memory for the sizes of argument %zu", index);
    }
    handle.dynamic[handle.dynamic_count++] = index;
  }
  handle.impls[index] = &impl;
  handle.pointers[index] = impl.mutable_data();
  return ETBK_STATUS_OK;
}

// Describes all arguments anew: the first execute of a handle, and whenever an argument is another
// tensor or of another kind than before.
EtbkStatus describe_all(Handle& handle, size_t count) {
  if (!reserve(handle, count)) {
#ifdef ETBK_HOST_NO_HEAP
    return fail(ETBK_STATUS_OUT_OF_RESOURCES,
                "the delegate call has %zu arguments and the host was built for %d; define "
                "ETBK_HOST_MAX_ARGUMENTS",
                count, ETBK_HOST_MAX_ARGUMENTS);
#else
    return fail(ETBK_STATUS_OUT_OF_MEMORY, "no memory to describe %zu arguments", count);
#endif
  }
  handle.described = false;
  handle.steady_count = kNeverSteady;
  handle.dynamic_count = 0;
  handle.count = count;
  handle.data = handle.pointers;
  handle.arguments = handle.descriptor_pointers;
  handle.changed = 1;
  for (size_t i = 0; i < count; ++i) {
    const EtbkStatus status = describe(handle, i);
    if (status != ETBK_STATUS_OK) {
      return status;
    }
  }
  handle.described = true;
  increment(handle.refreshes);
  bool all_tensors = true;
  for (size_t i = 0; i < count; ++i) {
    all_tensors = all_tensors && handle.impls[i] != nullptr;
  }
  if (all_tensors && handle.dynamic_count == 0 && handle.serial == nullptr) {
    handle.steady_count = count;
  }
  return ETBK_STATUS_OK;
}

// Takes the data pointer of an argument if it is the tensor seen last. The tag need not be looked
// at: a value that holds this address is that tensor, and only what `seen` points to is read.
inline bool take_pointer(const EValue& value, const TensorImpl* seen, void*& pointer) {
  if (value.payload.as_tensor.unsafeGetTensorImpl() != seen) {
    return false;
  }
  pointer = seen->mutable_data();
  return true;
}

template <size_t... kIndex>
inline bool take_pointers(EValue* const* values, const TensorImpl* const* seen, void** pointers,
                          std::index_sequence<kIndex...>) {
  return (take_pointer(*values[kIndex], seen[kIndex], pointers[kIndex]) && ...);
}

// The fast path: straight code for the usual numbers of arguments, 6 instructions each.
inline bool take_pointers(EValue* const* values, const TensorImpl* const* seen, void** pointers,
                          size_t count) {
  switch (count) {
    case 2:
      return take_pointers(values, seen, pointers, std::make_index_sequence<2>());
    case 3:
      return take_pointers(values, seen, pointers, std::make_index_sequence<3>());
    case 4:
      return take_pointers(values, seen, pointers, std::make_index_sequence<4>());
    default:
      for (size_t i = 0; i < count; ++i) {
        if (!take_pointer(*values[i], seen[i], pointers[i])) {
          return false;
        }
      }
      return true;
  }
}

// An argument that is not the tensor seen last: a scalar, a list, or something new.
EtbkStatus refresh_value(Handle& handle, size_t index, bool& describe_anew) {
  EValue& value = *handle.values[index];
  EtbkArgument& argument = handle.descriptors[index];
  if (value.tag == Tag::Tensor || kind_of(value.tag) != argument.kind) {
    describe_anew = true;
    return ETBK_STATUS_OK;
  }
  size_t count = 0;
  const EtbkStatus status = read_value(value, index, handle.pointers[index], count);
  if (count != argument.count) {
    argument.count = count;
    handle.changed = 1;
  }
  return status;
}

// Brings data pointers and, where something changed, descriptors up to date.
EtbkStatus refresh(Handle& handle, size_t count) {
  if (!handle.described || count != handle.count) {
    return describe_all(handle, count);
  }
  handle.changed = 0;
  bool describe_anew = false;
  for (size_t i = 0; i < count; ++i) {
    EValue& value = *handle.values[i];
    const TensorImpl* const impl = handle.impls[i];
    if (value.tag == Tag::Tensor && impl != nullptr &&
        value.payload.as_tensor.unsafeGetTensorImpl() == impl) {
      handle.pointers[i] = impl->mutable_data();
      continue;
    }
    const EtbkStatus status = refresh_value(handle, i, describe_anew);
    if (status != ETBK_STATUS_OK) {
      return status;
    }
    if (describe_anew) {
      return describe_all(handle, count);
    }
  }
  for (size_t n = 0; n < handle.dynamic_count; ++n) {
    const size_t index = handle.dynamic[n];
    const TensorImpl& impl = *handle.impls[index];
    if (sizes_differ(handle.seen_sizes[index], impl)) {
      remember_sizes(handle.seen_sizes[index], impl);
      handle.descriptors[index].size_bytes = impl.nbytes();
      handle.changed = 1;
    }
  }
  if (handle.changed != 0) {
    increment(handle.refreshes);
  }
  return ETBK_STATUS_OK;
}

// ------------------------------------------------------------------------------------------------
// Initialization in progress

struct InitCall : EtbkInit {
  rt::BackendInitContext* context = nullptr;
  rt::FreeableBuffer* processed = nullptr;
  const EtbkOption* verify_payload = nullptr;  // the host's own option; backends do not see it
};

const Handle& handle_of(const EtbkExecution* execution) {
  return *static_cast<const Handle*>(execution);
}
const InitCall& call_of(const EtbkInit* init) { return *static_cast<const InitCall*>(init); }

// ------------------------------------------------------------------------------------------------
// Host services

void ETBK_CALL host_set_error(const EtbkHostApi*, EtbkString text) {
  copy_text(pending_text, sizeof pending_text, text);
}

void ETBK_CALL host_log(const EtbkHostApi*, uint32_t level, EtbkString file, uint32_t line,
                        EtbkString text) {
  char message[256];
  if (file.size != 0) {
    std::snprintf(message, sizeof message, "%.*s:%u: %.*s", static_cast<int>(file.size), file.data,
                  line, static_cast<int>(text.size), text.data);
  } else {
    copy_text(message, sizeof message, text);
  }
  make_utf8(message);
  switch (level) {
    case ETBK_LOG_DEBUG:
      ET_LOG(Debug, "%s", message);
      break;
    case ETBK_LOG_INFO:
      ET_LOG(Info, "%s", message);
      break;
    case ETBK_LOG_FATAL:
      ET_LOG(Fatal, "%s", message);
      break;
    default:
      ET_LOG(Error, "%s", message);
      break;
  }
}

void* ETBK_CALL host_allocate_persistent(const EtbkHostApi*, const EtbkInit* init, size_t size,
                                         size_t alignment) {
  rt::MemoryAllocator* const allocator = call_of(init).context->get_runtime_allocator();
  if (allocator == nullptr || !is_power_of_two(alignment)) {
    return nullptr;
  }
  return allocator->allocate(size, alignment);
}

void ETBK_CALL host_release_blob(const EtbkHostApi*, const EtbkInit* init) {
  call_of(init).processed->Free();
}

size_t ETBK_CALL host_named_data_count(const EtbkHostApi*, const EtbkInit* init) {
  const rt::NamedDataMap* const map = call_of(init).context->get_named_data_map();
  if (map == nullptr) {
    return 0;
  }
  const auto count = map->get_num_keys();
  return count.ok() ? static_cast<size_t>(count.get()) : 0;
}

EtbkStatus ETBK_CALL host_named_data_key(const EtbkHostApi*, const EtbkInit* init, size_t index,
                                         EtbkString* key) {
  const rt::NamedDataMap* const map = call_of(init).context->get_named_data_map();
  if (map == nullptr || index > UINT32_MAX) {
    return fail(ETBK_STATUS_NOT_FOUND, "the program has no named-data key %zu", index);
  }
  const auto name = map->get_key(static_cast<uint32_t>(index));
  if (!name.ok()) {
    return fail(to_status(name.error()), "the program has no named-data key %zu", index);
  }
  *key = view(name.get());
  return ETBK_STATUS_OK;
}

// The map for `key`, or null with the error text set.
const rt::NamedDataMap* named_data(const EtbkInit* init, EtbkString key) {
  const rt::NamedDataMap* const map = call_of(init).context->get_named_data_map();
  if (map == nullptr) {
    fail(ETBK_STATUS_NOT_FOUND,
         "named data \"%.*s\" is missing: the program was loaded without any named data; give the "
         ".ptd file that was exported with it",
         static_cast<int>(key.size), key.data);
  }
  return map;
}

EtbkStatus named_data_failure(Error error, EtbkString key) {
  return fail(to_status(error),
              "named data \"%.*s\" cannot be read (0x%x); is its .ptd file given?",
              static_cast<int>(key.size), key.data, static_cast<unsigned>(error));
}

EtbkStatus ETBK_CALL host_get_named_data(const EtbkHostApi*, const EtbkInit* init, EtbkString key,
                                         EtbkNamedData* data) {
  const rt::NamedDataMap* const map = named_data(init, key);
  if (map == nullptr) {
    return ETBK_STATUS_NOT_FOUND;
  }
  auto buffer = map->get_data({key.data, key.size});
  if (!buffer.ok()) {
    return named_data_failure(buffer.error(), key);
  }
  const auto bytes = blob_data(buffer.get(), 0);
  if (!bytes.ok()) {
    return named_data_failure(bytes.error(), key);
  }
  data->bytes = {bytes.get(), buffer->size()};
#ifdef ETBK_HOST_NO_HEAP
  void* const memory = host_allocate_persistent(nullptr, init, sizeof(rt::FreeableBuffer),
                                                alignof(rt::FreeableBuffer));
  if (memory == nullptr) {
    return fail(ETBK_STATUS_OUT_OF_MEMORY, "no memory for a named-data entry");
  }
  data->owner = new (memory) rt::FreeableBuffer(std::move(buffer.get()));
#else
  data->owner = new (std::nothrow) rt::FreeableBuffer(std::move(buffer.get()));
  if (data->owner == nullptr) {
    return fail(ETBK_STATUS_OUT_OF_MEMORY, "no memory for a named-data entry");
  }
#endif
  return ETBK_STATUS_OK;
}

void ETBK_CALL host_release_named_data(const EtbkHostApi*, EtbkNamedData* data) {
  auto* const buffer = static_cast<rt::FreeableBuffer*>(data->owner);
  data->owner = nullptr;
  data->bytes = {nullptr, 0};
#ifdef ETBK_HOST_NO_HEAP
  if (buffer != nullptr) {
    buffer->Free();
  }
#else
  delete buffer;
#endif
}

EtbkStatus ETBK_CALL host_load_named_data_into(const EtbkHostApi*, const EtbkInit* init,
                                               EtbkString key, void* destination, size_t size) {
  const rt::NamedDataMap* const map = named_data(init, key);
  if (map == nullptr) {
    return ETBK_STATUS_NOT_FOUND;
  }
  Error error = map->load_data_into({key.data, key.size}, destination, size);
  if (error == Error::NotImplemented || error == Error::NotSupported) {
    // The runtime loads into a buffer only from .ptd files; for data inside the .pte we copy.
    auto buffer = map->get_data({key.data, key.size});
    if (!buffer.ok()) {
      return named_data_failure(buffer.error(), key);
    }
    const auto bytes = blob_data(buffer.get(), 0);
    if (!bytes.ok() || size > buffer->size()) {
      return fail(ETBK_STATUS_INVALID_ARGUMENT,
                  "named data \"%.*s\" has %zu bytes, %zu were asked for",
                  static_cast<int>(key.size), key.data, buffer->size(), size);
    }
    std::memcpy(destination, bytes.get(), size);
    error = Error::Ok;
  }
  return error == Error::Ok ? ETBK_STATUS_OK : named_data_failure(error, key);
}

EtbkStatus ETBK_CALL host_named_data_layout(const EtbkHostApi*, const EtbkInit* init,
                                            EtbkString key, EtbkNamedLayout* layout) {
  const rt::NamedDataMap* const map = named_data(init, key);
  if (map == nullptr) {
    return ETBK_STATUS_NOT_FOUND;
  }
  const auto found = map->get_tensor_layout({key.data, key.size});
  if (!found.ok()) {
    return named_data_failure(found.error(), key);
  }
  layout->dtype = static_cast<uint32_t>(found->scalar_type());
  layout->rank = static_cast<uint32_t>(found->sizes().size());
  layout->sizes = found->sizes().data();
  layout->dim_order = found->dim_order().data();
  layout->size_bytes = found->nbytes();
  return ETBK_STATUS_OK;
}

void* allocate_from_heap(Handle& handle, size_t size, size_t alignment) {
#ifdef ETBK_HOST_NO_HEAP
  (void)handle, (void)size, (void)alignment;
  return nullptr;
#else
  static std::atomic<bool> told{false};
  if (size > SIZE_MAX - sizeof(HeapBlock) - alignment) {
    return nullptr;
  }
  void* const allocation = std::malloc(sizeof(HeapBlock) + alignment + size);
  if (allocation == nullptr) {
    return nullptr;
  }
  heap_allocations.fetch_add(1, std::memory_order_relaxed);
  if (!told.exchange(true)) {
    ET_LOG(Info,
           "%s: ExecuTorch's temporary memory did not hold %zu bytes; taking them from the heap. "
           "Said once.",
           handle.id, size);
  }
  // The block's header lies in front of the aligned memory.
  const uintptr_t start = align_up(reinterpret_cast<uintptr_t>(allocation) + sizeof(HeapBlock),
                                   alignment < alignof(HeapBlock) ? alignof(HeapBlock) : alignment);
  handle.temporary = new (reinterpret_cast<void*>(start - sizeof(HeapBlock)))
      HeapBlock{handle.temporary, allocation};
  return reinterpret_cast<void*>(start);
#endif
}

void free_temporary([[maybe_unused]] Handle& handle) {
#ifndef ETBK_HOST_NO_HEAP
  while (handle.temporary != nullptr) {
    HeapBlock* const block = handle.temporary;
    handle.temporary = block->next;
    std::free(block->allocation);
  }
#endif
}

void* ETBK_CALL host_allocate_temporary(const EtbkHostApi*, const EtbkExecution* execution,
                                        size_t size, size_t alignment) {
  Handle& handle = const_cast<Handle&>(handle_of(execution));
  if (!is_power_of_two(alignment)) {
    return nullptr;
  }
  rt::MemoryAllocator* const arena = handle.context->get_temp_allocator();
  if (arena != nullptr) {
    void* const memory = arena->allocate(size, alignment);
    if (memory != nullptr) {
      return memory;
    }
  }
  return allocate_from_heap(handle, size, alignment);
}

// The tensor behind an argument, or null with the error text set.
TensorImpl* tensor_argument(const EtbkExecution* execution, size_t argument, const char* what) {
  const Handle& handle = handle_of(execution);
  if (argument >= handle.count) {
    fail(ETBK_STATUS_INVALID_ARGUMENT, "%s: there is no argument %zu; the call has %zu", what,
         argument, handle.count);
    return nullptr;
  }
  if (handle.values[argument]->tag != Tag::Tensor) {
    fail(ETBK_STATUS_INVALID_ARGUMENT, "%s: argument %zu is not a tensor", what, argument);
    return nullptr;
  }
  return handle.values[argument]->payload.as_tensor.unsafeGetTensorImpl();
}

// "[1, 128, 384]" into `text`.
const char* print_sizes(char (&text)[160], const int32_t* sizes, size_t rank) {
  size_t used = 0;
  text[used++] = '[';
  for (size_t d = 0; d < rank && used < sizeof text - 16; ++d) {
    used += static_cast<size_t>(std::snprintf(text + used, sizeof text - used,
                                              d == 0 ? "%d" : ", %d", static_cast<int>(sizes[d])));
  }
  text[used++] = ']';
  text[used] = '\0';
  return text;
}

Error resize_tensor(TensorImpl& impl, const int32_t* sizes, size_t rank) {
#ifdef ETBK_HOST_CORE_ONLY
  return rt::internal::TensorResizerFriend::etbk_resize(&impl, {sizes, rank});
#else
  return rt::internal::resize_tensor_impl(&impl, {sizes, rank});
#endif
}

EtbkStatus ETBK_CALL host_resize(const EtbkHostApi*, const EtbkExecution* execution,
                                 size_t argument, const int32_t* sizes, uint32_t rank) {
  TensorImpl* const impl = tensor_argument(execution, argument, "resize");
  if (impl == nullptr) {
    return ETBK_STATUS_INVALID_ARGUMENT;
  }
  char wanted[160];
  char present[160];
  if (static_cast<size_t>(impl->dim()) != rank) {
    return fail(ETBK_STATUS_INVALID_ARGUMENT,
                "output %zu has %zu dimensions and cannot be given the %u of %s", argument,
                static_cast<size_t>(impl->dim()), rank, print_sizes(wanted, sizes, rank));
  }
  if (std::memcmp(impl->sizes().data(), sizes, rank * sizeof *sizes) == 0) {
    return ETBK_STATUS_OK;
  }
  const Error error = resize_tensor(*impl, sizes, rank);
  if (error != Error::Ok) {
    return fail(to_status(error), "output %zu cannot be resized from %s to %s: %s", argument,
                print_sizes(present, impl->sizes().data(), rank), print_sizes(wanted, sizes, rank),
                dynamism_of(*impl) == ETBK_DYNAMISM_STATIC
                    ? "it is static in this program"
                    : "the program's upper bound is smaller");
  }
  Handle& handle = const_cast<Handle&>(handle_of(execution));
  handle.descriptors[argument].size_bytes = impl->nbytes();
  if (handle.seen_sizes[argument] != nullptr) {
    remember_sizes(handle.seen_sizes[argument], *impl);
  }
  return ETBK_STATUS_OK;
}

EtbkStatus ETBK_CALL host_check_argument(const EtbkHostApi*, const EtbkExecution* execution,
                                         size_t argument, const EtbkExpectation* expectation) {
  const TensorImpl* const impl = tensor_argument(execution, argument, "check_argument");
  if (impl == nullptr) {
    return ETBK_STATUS_INVALID_ARGUMENT;
  }
  const auto sizes = impl->sizes();
  const auto order = impl->dim_order();
  if (static_cast<uint32_t>(impl->scalar_type()) != expectation->dtype) {
    return fail(ETBK_STATUS_INVALID_ARGUMENT,
                "argument %zu has element type %u, the program was compiled for %u", argument,
                static_cast<unsigned>(impl->scalar_type()), expectation->dtype);
  }
  if (sizes.size() != expectation->rank) {
    return fail(ETBK_STATUS_INVALID_ARGUMENT,
                "argument %zu has %zu dimensions, the program was compiled for %u", argument,
                sizes.size(), expectation->rank);
  }
  for (uint32_t d = 0; d < expectation->rank; ++d) {
    const int32_t least = expectation->minimum_sizes == nullptr ? 0 : expectation->minimum_sizes[d];
    const int32_t most =
        expectation->maximum_sizes == nullptr ? INT32_MAX : expectation->maximum_sizes[d];
    if (sizes[d] < least || sizes[d] > most) {
      return fail(ETBK_STATUS_INVALID_ARGUMENT,
                  "dimension %u of argument %zu is %d, the program was compiled for %d to %d", d,
                  argument, static_cast<int>(sizes[d]), static_cast<int>(least),
                  static_cast<int>(most));
    }
    const uint8_t expected_order =
        expectation->dim_order == nullptr ? static_cast<uint8_t>(d) : expectation->dim_order[d];
    if (order[d] != expected_order) {
      return fail(
          ETBK_STATUS_INVALID_ARGUMENT,
          "argument %zu has another memory format (dim order) than the program was compiled "
          "for, first at position %u",
          argument, d);
    }
  }
  return ETBK_STATUS_OK;
}

// The tensor in a list whose length was checked; null where an optional one is absent.
const TensorImpl* list_item(const EValue& value, size_t item) {
#ifndef ETBK_HOST_CORE_ONLY
  if (value.tag == Tag::ListOptionalTensor) {
    const auto list = optional_tensor_list(value, 0);
    return list.ok() && list->data()[item].has_value() ? list->data()[item]->unsafeGetTensorImpl()
                                                       : nullptr;
  }
#endif
  const auto list = tensor_list(value, 0);
  return list.ok() ? list->data()[item].unsafeGetTensorImpl() : nullptr;
}

EtbkStatus ETBK_CALL host_tensor_list_item(const EtbkHostApi*, const EtbkExecution* execution,
                                           size_t argument, size_t item, EtbkArgument* tensor,
                                           void** data) {
  const Handle& handle = handle_of(execution);
  if (argument >= handle.count || handle.descriptors[argument].kind != ETBK_ARGUMENT_TENSOR_LIST) {
    return fail(ETBK_STATUS_INVALID_ARGUMENT, "argument %zu is not a tensor list", argument);
  }
  if (item >= handle.descriptors[argument].count) {
    return fail(ETBK_STATUS_INVALID_ARGUMENT, "tensor list %zu has no item %zu", argument, item);
  }
  const TensorImpl* const impl = list_item(*handle.values[argument], item);
  EtbkArgument full{};
  *data = nullptr;
  if (impl != nullptr) {
    full.kind = ETBK_ARGUMENT_TENSOR;
    describe_tensor(*impl, full);
    *data = impl->mutable_data();
  }
  full.struct_size = tensor->struct_size;
  const size_t room = tensor->struct_size < sizeof full ? tensor->struct_size : sizeof full;
  std::memcpy(tensor, &full, room);
  return ETBK_STATUS_OK;
}

// A zero-terminated copy of an event's name; empty names become null, as ExecuTorch wants them.
class EventName {
 public:
  explicit EventName(EtbkString name) : named_(name.size != 0) {
    copy_text(text_, sizeof text_, name);
  }
  const char* get() const { return named_ ? text_ : nullptr; }
  rt::DebugHandle id(uint32_t id) const {
    return named_ ? static_cast<rt::DebugHandle>(-1) : static_cast<rt::DebugHandle>(id);
  }

 private:
  bool named_;
  char text_[128];
};

uint64_t ETBK_CALL host_profile_now(const EtbkHostApi*) { return rt::pal_current_ticks(); }

static_assert(sizeof(rt::EventTracerEntry) <= sizeof(EtbkProfileEvent));
static_assert(std::is_trivially_copyable_v<rt::EventTracerEntry>);

void ETBK_CALL host_profile_begin(const EtbkHostApi*, void* profiler, EtbkString name, uint32_t id,
                                  EtbkProfileEvent* event) {
  if (profiler == nullptr) {
    return;
  }
  const EventName event_name(name);
  const rt::EventTracerEntry entry = rt::event_tracer_start_profiling_delegate(
      static_cast<rt::EventTracer*>(profiler), event_name.get(), event_name.id(id));
  std::memcpy(event, &entry, sizeof entry);
}

void ETBK_CALL host_profile_end(const EtbkHostApi*, void* profiler, EtbkProfileEvent* event,
                                EtbkBytes metadata) {
  if (profiler == nullptr) {
    return;
  }
  rt::EventTracerEntry entry;
  std::memcpy(&entry, event, sizeof entry);
  rt::event_tracer_end_profiling_delegate(static_cast<rt::EventTracer*>(profiler), entry,
                                          metadata.data, metadata.size);
}

void ETBK_CALL host_profile_span(const EtbkHostApi*, void* profiler, EtbkString name, uint32_t id,
                                 uint64_t begin, uint64_t end, EtbkBytes metadata) {
  if (profiler == nullptr) {
    return;
  }
  const EventName event_name(name);
  rt::event_tracer_log_profiling_delegate(static_cast<rt::EventTracer*>(profiler), event_name.get(),
                                          event_name.id(id), begin, end, metadata.data,
                                          metadata.size);
}

// ------------------------------------------------------------------------------------------------
// Extensions of this host

uint32_t ETBK_CALL thread_count(const EtbkHostApi*) {
#ifdef ET_USE_THREADPOOL
  ::pthreadpool* const pool = ::executorch::extension::threadpool::get_pthreadpool();
  return pool == nullptr ? 1 : static_cast<uint32_t>(pthreadpool_get_threads_count(pool));
#else
  return 1;
#endif
}

EtbkStatus ETBK_CALL parallel_for(const EtbkHostApi*, void(ETBK_CALL* task)(void*, size_t),
                                  void* argument, size_t tasks) {
#ifdef ET_USE_THREADPOOL
  // Asked for anew each time: the application may replace the pool, and guards may hide it.
  ::pthreadpool* const pool = ::executorch::extension::threadpool::get_pthreadpool();
  if (pool != nullptr) {
    pthreadpool_parallelize_1d(pool, task, argument, tasks, 0);
    return ETBK_STATUS_OK;
  }
#endif
  for (size_t i = 0; i < tasks; ++i) {
    task(argument, i);
  }
  return ETBK_STATUS_OK;
}

constexpr EtbkParallelForExtension kParallelFor{sizeof(EtbkParallelForExtension),
                                                ETBK_EXTENSION_PARALLEL_FOR_REVISION, thread_count,
                                                parallel_for};

#ifndef ETBK_HOST_NO_HEAP
EtbkStatus ETBK_CALL log_tensor(const EtbkHostApi*, void* profiler, EtbkString name, uint32_t id,
                                uint32_t dtype, uint32_t rank, const int32_t* sizes,
                                const void* data) {
  if (profiler == nullptr) {
    return ETBK_STATUS_OK;
  }
  if (rank > rt::kTensorDimensionLimit) {
    return fail(ETBK_STATUS_INVALID_ARGUMENT, "an intermediate tensor has %u dimensions", rank);
  }
  int32_t own_sizes[rt::kTensorDimensionLimit];
  int32_t strides[rt::kTensorDimensionLimit];
  uint8_t order[rt::kTensorDimensionLimit];
  int32_t stride = 1;
  for (uint32_t d = rank; d-- > 0;) {
    own_sizes[d] = sizes[d];
    order[d] = static_cast<uint8_t>(d);
    strides[d] = stride;
    stride *= sizes[d];
  }
  TensorImpl impl(static_cast<::executorch::aten::ScalarType>(dtype), static_cast<ssize_t>(rank),
                  own_sizes, const_cast<void*>(data), order, strides);
  const EventName event_name(name);
  const Tensor tensor(&impl);
  rt::event_tracer_log_output_delegate(static_cast<rt::EventTracer*>(profiler), event_name.get(),
                                       event_name.id(id), tensor);
  return ETBK_STATUS_OK;
}

constexpr EtbkIntermediateExtension kIntermediate{sizeof(EtbkIntermediateExtension),
                                                  ETBK_EXTENSION_INTERMEDIATE_REVISION, log_tensor};
#endif

bool same_text(EtbkString a, const char* b) {
  return a.size == std::strlen(b) && std::memcmp(a.data, b, a.size) == 0;
}

const void* ETBK_CALL host_get_extension(const EtbkHostApi*, EtbkString name, uint32_t revision) {
  if (same_text(name, ETBK_EXTENSION_PARALLEL_FOR) &&
      revision == ETBK_EXTENSION_PARALLEL_FOR_REVISION) {
    return &kParallelFor;
  }
#ifndef ETBK_HOST_NO_HEAP
  if (same_text(name, ETBK_EXTENSION_INTERMEDIATE) &&
      revision == ETBK_EXTENSION_INTERMEDIATE_REVISION) {
    return &kIntermediate;
  }
#endif
  return nullptr;
}

constexpr char kHostName[] = "ExecuTorch";
constexpr char kRuntimeVersion[] = ETBK_EXECUTORCH_VERSION;

constexpr EtbkHostApi kHostApi{
    sizeof(EtbkHostApi),
    ETBK_ABI_MAJOR,
    ETBK_ABI_MINOR,
    0,
    {kHostName, sizeof kHostName - 1},
    {kRuntimeVersion, sizeof kRuntimeVersion - 1},
    host_set_error,
    host_log,
    host_allocate_persistent,
    host_release_blob,
    host_named_data_count,
    host_named_data_key,
    host_get_named_data,
    host_release_named_data,
    host_load_named_data_into,
    host_named_data_layout,
    host_allocate_temporary,
    host_resize,
    host_check_argument,
    host_tensor_list_item,
    host_profile_now,
    host_profile_begin,
    host_profile_end,
    host_profile_span,
    host_get_extension,
};

// ------------------------------------------------------------------------------------------------
// Options

EtbkOption to_option(const rt::BackendOption& option) {
  EtbkOption result{};
  result.key = view(option.key);
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, bool>) {
          result.kind = ETBK_OPTION_BOOL;
          result.number = value ? 1 : 0;
        } else if constexpr (std::is_same_v<Value, int>) {
          result.kind = ETBK_OPTION_INT;
          result.number = value;
        } else if constexpr (std::is_same_v<Value, const char*>) {
          result.kind = ETBK_OPTION_STRING;
          result.text = view(value);
        } else {
          result.kind = ETBK_OPTION_STRING;
          result.text = view(value.data());
        }
      },
      option.value);
  return result;
}

// Writes a plugin's answer into ExecuTorch's option. The kind follows the answer.
EtbkStatus from_option(const EtbkOption& option, rt::BackendOption& result) {
  if (option.kind == ETBK_OPTION_BOOL) {
    result.value = option.number != 0;
    return ETBK_STATUS_OK;
  }
  if (option.kind == ETBK_OPTION_INT) {
    if (option.number < INT32_MIN || option.number > INT32_MAX) {
      return fail(ETBK_STATUS_INVALID_ARGUMENT,
                  "the value of option \"%s\" does not fit ExecuTorch's 32 bits", result.key);
    }
    result.value = static_cast<int>(option.number);
    return ETBK_STATUS_OK;
  }
  using Text = std::variant_alternative_t<2, decltype(result.value)>;
  if constexpr (std::is_same_v<Text, const char*>) {
    return fail(ETBK_STATUS_NOT_SUPPORTED,
                "this ExecuTorch release cannot return the text of option \"%s\"", result.key);
  } else {
    Text text{};
    if (option.text.size >= text.size()) {
      return fail(ETBK_STATUS_INVALID_ARGUMENT,
                  "the text of option \"%s\" is longer than ExecuTorch's %zu bytes", result.key,
                  text.size() - 1);
    }
    std::memcpy(text.data(), option.text.data, option.text.size);
    result.value = text;
    return ETBK_STATUS_OK;
  }
}

// A short array on the stack, a long one on the heap.
template <typename Element, size_t kInline>
class SmallArray {
 public:
  explicit SmallArray(size_t count) {
    if (count > kInline) {
#ifndef ETBK_HOST_NO_HEAP
      heap_ = new (std::nothrow) Element[count]();
      data_ = heap_;
#else
      data_ = nullptr;
#endif
    }
  }
#ifdef ETBK_HOST_NO_HEAP
  ~SmallArray() = default;
#else
  ~SmallArray() { delete[] heap_; }
#endif
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;
  Element* data() { return data_; }  // null: no memory

 private:
  Element inline_[kInline] = {};
  Element* heap_ = nullptr;
  Element* data_ = inline_;
};

// A compile specification. A file may lack a key; ExecuTorch then hands out a pointer into the
// first page of memory instead of null.
EtbkCompileSpec to_spec(const rt::CompileSpec& spec) {
  EtbkCompileSpec result{};
  if (reinterpret_cast<uintptr_t>(spec.key) >= 4096) {
    result.key = view(spec.key);
  }
  if (spec.value.buffer != nullptr) {
    result.value = {spec.value.buffer, spec.value.nbytes};
  }
  return result;
}

// The identity of the loaded program: a number given at load time, else its allocator.
size_t program_scope(const EtbkOption* options, size_t count, rt::BackendInitContext& context) {
  for (size_t i = 0; i < count; ++i) {
    if (options[i].kind == ETBK_OPTION_INT && same_text(options[i].key, "etbk.program_scope")) {
      return static_cast<size_t>(options[i].number);
    }
  }
  return reinterpret_cast<uintptr_t>(context.get_runtime_allocator());
}

// ------------------------------------------------------------------------------------------------
// The backend as ExecuTorch sees it

class PluginBackend final : public rt::BackendInterface {
 public:
  explicit PluginBackend(const EtbkBackendApi* api) : api_(api) {
    copy_text(id_, sizeof id_, api->info->id);
  }

  const EtbkBackendApi* api() const { return api_; }
  const char* id() const { return id_; }

  bool is_available() const override {
    if (api_->is_available == nullptr) {
      return true;
    }
    const EtbkStatus status = api_->is_available(&kHostApi, api_);
    if (status != ETBK_STATUS_OK) {
      static_cast<void>(record(id_, "is_available", status));
    }
    return status == ETBK_STATUS_OK;
  }

  rt::Result<rt::DelegateHandle*> init(rt::BackendInitContext& context,
                                       rt::FreeableBuffer* processed,
                                       rt::ArrayRef<rt::CompileSpec> specs) const override {
    Handle* handle = nullptr;
    pending_text[0] = '\0';
    const EtbkStatus status = prepare(context, processed, specs, &handle);
    if (status != ETBK_STATUS_OK) {
      return record(id_, "init", status);
    }
    return static_cast<rt::DelegateHandle*>(handle);
  }

  Error execute(rt::BackendExecutionContext& context, rt::DelegateHandle* delegate,
                rt::Span<EValue*> args) const override {
    Handle& handle = *static_cast<Handle*>(delegate);
    handle.context = &context;
    handle.values = args.data();
    handle.profiler = context.event_tracer();
    if (args.size() != handle.steady_count ||
        !take_pointers(args.data(), handle.impls, handle.pointers, args.size())) {
      return execute_with_care(handle, args.size());
    }
    return finish(handle, handle.execute(&kHostApi, &handle, handle.plugin_handle));
  }

  void destroy(rt::DelegateHandle* delegate) const override {
    Handle* const handle = static_cast<Handle*>(delegate);
    if (handle == nullptr) {
      return;
    }
    if (handle->serial == nullptr) {
      api_->destroy(&kHostApi, handle->plugin_handle);
    } else {
      const Lock lock(*handle->serial);
      api_->destroy(&kHostApi, handle->plugin_handle);
    }
    unlink(*handle);
    free_handle(handle);
  }

  Error set_option(rt::BackendOptionContext&, const rt::Span<rt::BackendOption>& options) override {
    for (const rt::BackendOption& option : options) {
      const EtbkOption given = to_option(option);
      const EtbkStatus status = set_option(given);
      if (status != ETBK_STATUS_OK) {
        return to_error(status);
      }
    }
    return Error::Ok;
  }

  Error get_option(rt::BackendOptionContext&, rt::Span<rt::BackendOption>& options) override {
    for (rt::BackendOption& option : options) {
      EtbkOption wanted = to_option(option);
      EtbkStatus status = get_option(wanted);
      if (status == ETBK_STATUS_OK) {
        status = from_option(wanted, option);
        if (status != ETBK_STATUS_OK) {
          static_cast<void>(record(id_, "option", status));
        }
      }
      if (status != ETBK_STATUS_OK) {
        return to_error(status);
      }
    }
    return Error::Ok;
  }

  EtbkStatus set_option(const EtbkOption& option) const {
    pending_text[0] = '\0';
    const EtbkStatus status =
        api_->set_option == nullptr
            ? fail(ETBK_STATUS_NOT_FOUND, "the backend has no options; \"%.*s\" was set",
                   static_cast<int>(option.key.size), option.key.data)
            : api_->set_option(&kHostApi, api_, &option);
    if (status != ETBK_STATUS_OK) {
      static_cast<void>(record(id_, "option", status));
    }
    return status;
  }

  EtbkStatus get_option(EtbkOption& option) const {
    pending_text[0] = '\0';
    const EtbkStatus status =
        api_->get_option == nullptr
            ? fail(ETBK_STATUS_NOT_FOUND, "the backend has no options; \"%.*s\" was asked for",
                   static_cast<int>(option.key.size), option.key.data)
            : api_->get_option(&kHostApi, api_, &option);
    if (status != ETBK_STATUS_OK) {
      static_cast<void>(record(id_, "option", status));
    }
    return status;
  }

 private:
  // Execute when descriptors may have changed, scalars or lists are among the arguments, or the
  // backend takes one call at a time.
  [[gnu::noinline]] static Error execute_with_care(Handle& handle, size_t count) {
    EtbkStatus status = refresh(handle, count);
    if (status == ETBK_STATUS_OK) {
      if (handle.serial == nullptr) {
        status = handle.execute(&kHostApi, &handle, handle.plugin_handle);
      } else {
        const Lock lock(*handle.serial);
        status = handle.execute(&kHostApi, &handle, handle.plugin_handle);
      }
    }
    const Error error = finish(handle, status);
    handle.changed = 0;  // what the fast path leaves as it is
    return error;
  }

  static Error finish(Handle& handle, EtbkStatus status) {
    increment(handle.executes);
    if (handle.temporary != nullptr || status != ETBK_STATUS_OK) {
      return finish_with_care(handle, status);
    }
    return Error::Ok;
  }

  [[gnu::noinline]] static Error finish_with_care(Handle& handle, EtbkStatus status) {
    free_temporary(handle);
    if (status == ETBK_STATUS_OK) {
      return Error::Ok;
    }
    // The backend may not have taken a change in: the next call describes everything (ABI-050).
    handle.described = false;
    handle.steady_count = kNeverSteady;
    return record(handle.id, "execute", status);
  }

  // Everything init does, so that one place records a failure.
  EtbkStatus prepare(rt::BackendInitContext& context, rt::FreeableBuffer* processed,
                     rt::ArrayRef<rt::CompileSpec> specs, Handle** result) const {
    const auto bytes = blob_data(*processed, 0);
    if (!bytes.ok()) {
      return fail(ETBK_STATUS_NOT_SUPPORTED,
                  "the blob lies in memory this processor cannot address");
    }
    InitCall call;
    static_cast<EtbkInit&>(call) = EtbkInit{};
    call.struct_size = sizeof(EtbkInit);
    call.context = &context;
    call.processed = processed;
    call.profiler = context.event_tracer();
    call.method_name = view(context.get_method_name());
    call.blob = {bytes.get(), processed->size()};

    SmallArray<EtbkCompileSpec, 16> own_specs(specs.size());
    const auto given_options = runtime_specs(context, 0);
    SmallArray<EtbkOption, 8> own_options(given_options.size());
    Handle* const handle = new_handle(context);
    if (own_specs.data() == nullptr || own_options.data() == nullptr || handle == nullptr) {
      free_handle(handle);
      return fail(ETBK_STATUS_OUT_OF_MEMORY, "no memory for the delegate's handle");
    }
    for (size_t i = 0; i < specs.size(); ++i) {
      own_specs.data()[i] = to_spec(specs[i]);
    }
    EtbkOption verify{};
    size_t option_count = 0;
    for (size_t i = 0; i < given_options.size(); ++i) {
      const EtbkOption option = to_option(given_options[i]);
      if (option.kind == ETBK_OPTION_BOOL && same_text(option.key, "etbk_verify_payload")) {
        verify = option;
        call.verify_payload = &verify;
      } else {
        own_options.data()[option_count++] = option;
      }
    }
    call.specs = own_specs.data();
    call.spec_count = specs.size();
    call.options = own_options.data();
    call.option_count = option_count;
    call.program_scope = program_scope(call.options, call.option_count, context);

    handle->backend = api_;
    handle->id = id_;
    handle->execute = api_->execute;
    handle->struct_size = sizeof(EtbkExecution);
    if (api_->info->concurrency == ETBK_CONCURRENCY_NONE) {
      handle->serial = &serial_;
    }
    const EtbkStatus status = check_then_init(call, *handle);
    if (status != ETBK_STATUS_OK) {
      free_handle(handle);
      return status;
    }
    link(*handle);
    *result = handle;
    return ETBK_STATUS_OK;
  }

  EtbkStatus check_then_init(const InitCall& call, Handle& handle) const {
    if (handle.serial == nullptr) {
      return checked_init(call, handle);
    }
    const Lock lock(*handle.serial);
    return checked_init(call, handle);
  }

  EtbkStatus checked_init(const InitCall& call, Handle& handle) const {
    EtbkEnvelope envelope{};
    const EtbkStatus fits = check_envelope(call, &envelope);
    if (fits != ETBK_STATUS_OK) {
      return fits;
    }
    if (api_->check_blob != nullptr) {
      // The envelope and what follows it; all of a small blob.
      const size_t shown = envelope.header_size + 256;
      const EtbkBytes head{call.blob.data, call.blob.size < shown ? call.blob.size : shown};
      uint32_t grade = ETBK_BLOB_OPTIMAL;
      const EtbkStatus status = api_->check_blob(&kHostApi, api_, head, call.blob.size, &grade);
      if (status != ETBK_STATUS_OK) {
        return status;
      }
      if (grade >= ETBK_BLOB_NEEDS_REBUILD) {
        return ETBK_STATUS_INCOMPATIBLE_BLOB;
      }
      if (grade == ETBK_BLOB_USABLE && pending_text[0] != '\0') {
        make_utf8(pending_text);
        ET_LOG(Info, "%s: %s", id_, pending_text);
      }
      pending_text[0] = '\0';
    }
    return api_->init(&kHostApi, api_, &call, &handle.plugin_handle);
  }

  // Judges a blob by its envelope, before the backend sees a byte. A blob without one passes.
  EtbkStatus check_envelope(const InitCall& call, EtbkEnvelope* envelope) const {
    const EtbkBackendInfo& info = *api_->info;
    const uint32_t newest = info.blob_format_newest == 0 ? UINT32_MAX : info.blob_format_newest;
    const EtbkEnvelopeReader reader{info.id.data, info.id.size, info.blob_format_oldest, newest,
                                    etbk_envelope_arch()};
    int result = ETBK_ENVELOPE_OK;
    const int found = etbk_envelope_grade(call.blob.data, call.blob.size, call.blob.size, &reader,
                                          envelope, &result);
    const EtbkEnvelopeVerdict verdict = etbk_envelope_verdict(found);
    char more[192] = "";
    switch (found) {
      case ETBK_VERDICT_FITS:
        return result == ETBK_ENVELOPE_OK ? check_payload(call, *envelope) : ETBK_STATUS_OK;
      case ETBK_VERDICT_OTHER_BACKEND:
        std::snprintf(more, sizeof more, "made for \"%.*s\", this is \"%s\"",
                      shown_length(envelope->backend_id), envelope->backend_id.data, id_);
        break;
      case ETBK_VERDICT_OTHER_ARCH:
        std::snprintf(more, sizeof more, "compiled for %.*s, this machine is %s",
                      shown_length(envelope->arch), envelope->arch.data, reader.arch);
        break;
      case ETBK_VERDICT_FORMAT_TOO_NEW:
      case ETBK_VERDICT_FORMAT_TOO_OLD:
      case ETBK_VERDICT_NEWER_BUT_READABLE:
        std::snprintf(more, sizeof more,
                      "format %" PRIu32 ", readable from format %" PRIu32
                      " on; this backend reads %" PRIu32 " to %" PRIu32,
                      envelope->blob_format, envelope->oldest_reader, info.blob_format_oldest,
                      newest);
        break;
      case ETBK_VERDICT_MISALIGNED:
        std::snprintf(more, sizeof more, "%" PRIu32 " bytes are wanted",
                      envelope->payload_alignment);
        break;
      default:
        std::snprintf(more, sizeof more, "%s", etbk_envelope_result_text(result));
        break;
    }
    if (verdict.grade < ETBK_BLOB_NEEDS_REBUILD) {
      ET_LOG(Info, "%s: %s (%s): %s", id_, verdict.sentence, more, verdict.cure);
      return check_payload(call, *envelope);
    }
    return fail(ETBK_STATUS_INCOMPATIBLE_BLOB, "%s (%s): %s", verdict.sentence, more, verdict.cure);
  }

  // Reads the whole payload, so only by the application's wish.
  static EtbkStatus check_payload(const InitCall& call, const EtbkEnvelope& envelope) {
    if (!payload_check_wanted(call) || envelope.hash_kind == ETBK_PAYLOAD_HASH_NONE) {
      return ETBK_STATUS_OK;
    }
    if (envelope.hash_kind != ETBK_PAYLOAD_HASH_XXH3) {
      return fail(ETBK_STATUS_NOT_SUPPORTED,
                  "the host cannot verify a hash of kind %" PRIu32 ": use etbk check --hash",
                  envelope.hash_kind);
    }
    const auto* const payload = static_cast<const uint8_t*>(call.blob.data) + envelope.header_size;
    if (etbk_hash_of(payload, static_cast<size_t>(envelope.payload_size)) !=
        etbk_hash_read64(envelope.hash)) {
      return fail(ETBK_STATUS_INCOMPATIBLE_BLOB,
                  "the blob's payload does not have the hash in its envelope: copy or export the "
                  "file again");
    }
    return ETBK_STATUS_OK;
  }

  // Load-time option "etbk_verify_payload", or for the whole process ETBK_VERIFY_PAYLOAD=1.
  static bool payload_check_wanted(const InitCall& call) {
    if (call.verify_payload != nullptr) {
      return call.verify_payload->number != 0;
    }
#ifdef ETBK_HOST_NO_HEAP
    return false;
#else
    const char* const wish = std::getenv("ETBK_VERIFY_PAYLOAD");
    return wish != nullptr && std::strcmp(wish, "1") == 0;
#endif
  }

  static int shown_length(EtbkEnvelopeText text) {
    return text.size < 64 ? static_cast<int>(text.size) : 64;
  }

#ifdef ETBK_HOST_NO_HEAP
  static Handle* new_handle(rt::BackendInitContext& context) {
    rt::MemoryAllocator* const allocator = context.get_runtime_allocator();
    void* const memory =
        allocator == nullptr ? nullptr : allocator->allocate(sizeof(Handle), alignof(Handle));
    return memory == nullptr ? nullptr : new (memory) Handle;
  }
  static void free_handle(Handle*) {}
#else
  static Handle* new_handle(rt::BackendInitContext&) { return new (std::nothrow) Handle; }
  static void free_handle(Handle* handle) {
    if (handle != nullptr) {
      release_arrays(*handle);
      delete handle;
    }
  }
#endif

  static void link(Handle& handle) {
    HandleList& list = handle_list();
    const Lock lock(list.mutex);
    handle.next = list.first;
    if (list.first != nullptr) {
      list.first->previous = &handle;
    }
    list.first = &handle;
  }

  static void unlink(Handle& handle) {
    HandleList& list = handle_list();
    const Lock lock(list.mutex);
    list.retired_executes += handle.executes.load(std::memory_order_relaxed);
    list.retired_refreshes += handle.refreshes.load(std::memory_order_relaxed);
    (handle.previous == nullptr ? list.first : handle.previous->next) = handle.next;
    if (handle.next != nullptr) {
      handle.next->previous = handle.previous;
    }
  }

  const EtbkBackendApi* api_;
  char id_[64];
  mutable Mutex serial_;
};

// ------------------------------------------------------------------------------------------------
// Registry. The runtime keeps pointers for ever, so slots are never freed.

constexpr size_t kSlots = 16;  // of ExecuTorch's own table

struct Slots {
  alignas(PluginBackend) unsigned char storage[kSlots][sizeof(PluginBackend)];
  PluginBackend* backends[kSlots];
  size_t count;
};
Slots slots;

PluginBackend* find(const char* id) {
  for (size_t i = 0; i < slots.count; ++i) {
    if (std::strcmp(slots.backends[i]->id(), id) == 0) {
      return slots.backends[i];
    }
  }
  return nullptr;
}

// ExecuTorch's Python side looks classes up by this name, so it must be an identifier.
bool is_identifier(EtbkString id) {
  if (id.data == nullptr || id.size == 0 || id.size > 63) {
    return false;
  }
  for (size_t i = 0; i < id.size; ++i) {
    const char c = id.data[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(i > 0 && c >= '0' && c <= '9')) {
      return false;
    }
  }
  return true;
}

EtbkStatus no_such_backend(const char* id) {
  const EtbkStatus status = fail(ETBK_STATUS_NOT_FOUND, "no plugin registered this backend");
  static_cast<void>(record(id, "option", status));
  return status;
}

bool listed(const char* id) {
  for (size_t i = 0; i < registered_count(); ++i) {
    const char* const name = registered_name(i);
    if (name != nullptr && std::strcmp(name, id) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

const EtbkHostApi* host_api() { return &kHostApi; }

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
  } else if (!is_identifier(backend->info->id)) {
    *reason = "the backend id is not an identifier of 1 to 63 letters, digits and underscores";
  } else if (backend->init == nullptr || backend->execute == nullptr ||
             backend->destroy == nullptr) {
    *reason = "one of init, execute and destroy is null";
  }
  return *reason == nullptr;
}

Registration register_backend(const EtbkBackendApi* backend, unsigned* runtime_error) {
  *runtime_error = 0;
  const char* reason = nullptr;
  if (!validate(backend, &reason)) {
    return Registration::kInvalid;
  }
  char id[64];
  copy_text(id, sizeof id, backend->info->id);
  PluginBackend* const known = find(id);
  if (known != nullptr) {
    return known->api() == backend ? Registration::kAlreadyOurs : Registration::kDuplicateId;
  }
  if (listed(id)) {
    return Registration::kDuplicateId;
  }
  if (slots.count == kSlots || registered_count() >= kSlots) {
    return Registration::kTableFull;
  }
  auto* const plugin = new (slots.storage[slots.count]) PluginBackend(backend);
  const Error error = rt::register_backend({plugin->id(), plugin});
  if (error != Error::Ok) {
    *runtime_error = static_cast<unsigned>(error);
    plugin->~PluginBackend();
    return Registration::kRuntimeError;
  }
  slots.backends[slots.count++] = plugin;
  return listed(id) && rt::get_backend_class(plugin->id()) == plugin ? Registration::kRegistered
                                                                     : Registration::kInvisible;
}

size_t registered_count() { return rt::get_num_registered_backends(); }

const char* registered_name(size_t slot) {
  const auto name = rt::get_backend_name(slot);
  return name.ok() ? name.get() : nullptr;
}

const void* register_backend_address() {
  return reinterpret_cast<const void*>(&rt::register_backend);
}

const char* last_error() { return last_error_text; }

size_t take_pending_text(char* buffer, size_t capacity) {
  copy_text(buffer, capacity, view(pending_text));
  pending_text[0] = '\0';
  return std::strlen(buffer);
}

size_t recent_errors(ErrorRecord* records, size_t capacity) {
  ErrorRing& ring = error_ring();
  const Lock lock(ring.mutex);
  unsigned long long kept = ring.next < kErrorRecords ? ring.next : kErrorRecords;
  if (kept > capacity) {
    kept = capacity;
  }
  for (unsigned long long i = 0; i < kept; ++i) {
    records[i] = ring.records[(ring.next - kept + i) % kErrorRecords];
  }
  return static_cast<size_t>(kept);
}

Counters counters() {
  HandleList& list = handle_list();
  const Lock lock(list.mutex);
  Counters result{list.retired_executes, list.retired_refreshes,
                  heap_allocations.load(std::memory_order_relaxed)};
  for (const Handle* handle = list.first; handle != nullptr; handle = handle->next) {
    result.executes += handle->executes.load(std::memory_order_relaxed);
    result.descriptor_refreshes += handle->refreshes.load(std::memory_order_relaxed);
  }
  return result;
}

EtbkStatus set_option(const char* backend, const EtbkOption* option) {
  const PluginBackend* const plugin = find(backend);
  return plugin == nullptr ? no_such_backend(backend) : plugin->set_option(*option);
}

EtbkStatus get_option(const char* backend, EtbkOption* option) {
  const PluginBackend* const plugin = find(backend);
  return plugin == nullptr ? no_such_backend(backend) : plugin->get_option(*option);
}

}  // namespace etbk::adapter

// The whole host of a program without a dynamic loader; see host.h.
extern "C" int32_t ETBK_CALL etbk_host_register_static(const EtbkStaticPlugin* table) {
  using namespace etbk::adapter;
  int32_t refused = 0;
  for (const EtbkStaticPlugin* row = table; row->name != nullptr; ++row) {
    EtbkPluginApi plugin{};
    plugin.struct_size = sizeof plugin;
    const EtbkStatus status = row->entry(host_api(), &plugin);
    if (status != ETBK_STATUS_OK || plugin.backends == nullptr) {
      ET_LOG(Error, "static plugin %s refused: status 0x%x, ABI %u.%u, host offers %u.%u",
             row->name, static_cast<unsigned>(status), plugin.abi_major, plugin.abi_minor,
             ETBK_ABI_MAJOR, ETBK_ABI_MINOR);
      ++refused;
      continue;
    }
    for (uint32_t i = 0; i < plugin.backend_count; ++i) {
      unsigned runtime_error = 0;
      const Registration result = register_backend(plugin.backends[i], &runtime_error);
      if (result != Registration::kRegistered && result != Registration::kAlreadyOurs) {
        ET_LOG(Error, "static plugin %s: backend %u not registered: reason %d, runtime error 0x%x",
               row->name, i, static_cast<int>(result), runtime_error);
        ++refused;
      }
    }
  }
  return refused;
}
