// The runtime as an application uses it, on a buffer that ends at an inaccessible page.
// Licence: BSD-3-Clause.
#include "stock_runtime.hpp"

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>

namespace etbk::pte::differential {
namespace {

namespace rt = executorch::runtime;
using executorch::extension::BufferDataLoader;
using executorch::extension::FlatTensorDataMap;
using executorch::extension::MallocMemoryAllocator;

constexpr size_t kPage = 4096;
constexpr uint64_t kMostPlanned = uint64_t{8} << 30;

// The bytes, aligned to 16 as the runtime wants, with nothing readable behind them.
const uint8_t* guarded(const std::vector<uint8_t>& bytes) {
  const size_t room = (bytes.size() + kPage - 1) / kPage * kPage;
  auto* const memory = static_cast<uint8_t*>(
      mmap(nullptr, room + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + room, kPage, PROT_NONE);
  uint8_t* const begin = memory + (room - (bytes.size() + 15) / 16 * 16);
  std::memcpy(begin, bytes.data(), bytes.size());
  mprotect(memory, room, PROT_READ);
  return begin;
}

uint8_t* lazily(uint64_t size) {
  return static_cast<uint8_t*>(mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

bool set_input(rt::Method& method, size_t index) {
  const auto tag = method.method_meta().input_tag(index);
  if (!tag.ok()) {
    return false;
  }
  switch (tag.get()) {
    case rt::Tag::Int:
      return method.set_input(rt::EValue(int64_t{1}), index) == rt::Error::Ok;
    case rt::Tag::Double:
      return method.set_input(rt::EValue(1.0), index) == rt::Error::Ok;
    case rt::Tag::Bool:
      return method.set_input(rt::EValue(true), index) == rt::Error::Ok;
    case rt::Tag::Tensor:
      break;
    default:
      return method.set_input(rt::EValue(), index) == rt::Error::Ok;
  }
  const auto info = method.method_meta().input_tensor_meta(index);
  if (!info.ok() || info->nbytes() > kMostPlanned) {
    return false;
  }
  const size_t rank = info->sizes().size();
  std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
  std::vector<uint8_t> order(info->dim_order().begin(), info->dim_order().end());
  std::vector<int32_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) {
    strides[order[i - 1]] = strides[order[i]] * (sizes[order[i]] == 0 ? 1 : sizes[order[i]]);
  }
  uint8_t* const data = lazily(info->nbytes());
  // Ones: indices of the first rows, numbers other than zero.
  const auto type = info->scalar_type();
  const size_t bytes = info->nbytes() < 65536 ? info->nbytes() : 65536;
  if (type == executorch::aten::ScalarType::Float) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
      const float one = 1.0f + static_cast<float>(i);
      std::memcpy(data + i, &one, 4);
    }
  } else {
    const size_t width = rt::elementSize(type);
    for (size_t i = 0; width > 0 && i + width <= bytes; i += width) {
      data[i] = 1;
    }
  }
  executorch::aten::TensorImpl tensor(type, static_cast<ssize_t>(rank), sizes.data(), data,
                                      order.data(), strides.data());
  return method.set_input(rt::EValue(executorch::aten::Tensor(&tensor)), index) == rt::Error::Ok;
}

bool run_method(rt::Program& program, const char* name, const rt::NamedDataMap* data,
                volatile int* stage) {
  const auto meta = program.method_meta(name);
  if (!meta.ok()) {
    return false;
  }
  std::vector<rt::Span<uint8_t>> spans;
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const auto size = meta->memory_planned_buffer_size(i);
    if (!size.ok()) {
      return false;
    }
    // Extension Module makes a std::vector of it: this is where that throws.
    if (size.get() < 0 || static_cast<uint64_t>(size.get()) > kMostPlanned) {
      throw std::bad_alloc();
    }
    spans.emplace_back(lazily(static_cast<uint64_t>(size.get())), static_cast<size_t>(size.get()));
  }
  rt::HierarchicalAllocator planned({spans.data(), spans.size()});
  MallocMemoryAllocator persistent;
  MallocMemoryAllocator temporary;
  rt::MemoryManager memory(&persistent, &planned, &temporary);
  auto method = program.load_method(name, &memory, nullptr, data);
  if (!method.ok()) {
    return false;
  }
  *stage = kMethodLoaded;
  for (size_t i = 0; i < method->inputs_size(); ++i) {
    if (!set_input(method.get(), i)) {
      return false;
    }
  }
  for (size_t i = 0; i < method->outputs_size(); ++i) {
    const auto tag = method->method_meta().output_tag(i);
    if (!tag.ok() || tag.get() != rt::Tag::Tensor) {
      continue;
    }
    const auto info = method->method_meta().output_tensor_meta(i);
    if (info.ok() && !info->is_memory_planned() && info->nbytes() <= kMostPlanned) {
      (void)method->set_output_data_ptr(lazily(info->nbytes()), info->nbytes(), i);
    }
  }
  const bool good = method->execute() == rt::Error::Ok;
  *stage = kExecuted;
  return good;
}

}  // namespace

int run_in_stock_runtime(const std::vector<uint8_t>& bytes, const std::vector<uint8_t>& data,
                         bool strict, volatile int* stage) {
  rt::runtime_init();
  BufferDataLoader loader(guarded(bytes), bytes.size());
  auto program = rt::Program::load(&loader, strict ? rt::Program::Verification::InternalConsistency
                                                   : rt::Program::Verification::Minimal);
  std::optional<BufferDataLoader> data_loader;
  std::optional<FlatTensorDataMap> map;
  if (!data.empty()) {
    data_loader.emplace(guarded(data), data.size());
    auto loaded = FlatTensorDataMap::load(&*data_loader);
    if (!loaded.ok()) {
      return 1;
    }
    map.emplace(std::move(loaded.get()));
  }
  if (!program.ok()) {
    return 1;
  }
  *stage = kProgramLoaded;
  bool good = true;
  for (size_t i = 0; i < program->num_methods() && i < 4; ++i) {
    const auto name = program->get_method_name(i);
    good = name.ok() && run_method(program.get(), name.get(), map ? &*map : nullptr, stage) && good;
  }
  return good ? 0 : 1;
}

}  // namespace etbk::pte::differential
