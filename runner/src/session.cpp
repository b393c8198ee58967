// Loading and running with ExecuTorch's own classes, in the steps that Module takes.
// Licence: BSD-3-Clause.
#include "session.hpp"

#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/merged_data_map.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "backend_watch.hpp"

// The pool's header is not installed with ExecuTorch; these are the parts of it used here.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  size_t get_thread_count() const;
  bool _unsafe_reset_threadpool(uint32_t thread_count);
};
ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace etbk::runner {
namespace {

namespace rt = ::executorch::runtime;
namespace et = ::executorch::extension;
using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;
using ::executorch::aten::TensorImpl;

constexpr size_t kAlignment = 64;

struct Mode {
  const char* name;
  bool mapped;
  et::MmapDataLoader::MlockConfig lock;
};
constexpr Mode kModes[] = {
    {"File", false, et::MmapDataLoader::MlockConfig::NoMlock},
    {"Mmap", true, et::MmapDataLoader::MlockConfig::NoMlock},
    {"MmapUseMlock", true, et::MmapDataLoader::MlockConfig::UseMlock},
    {"MmapUseMlockIgnoreErrors", true, et::MmapDataLoader::MlockConfig::UseMlockIgnoreErrors},
};

Failure failed(rt::Error error, std::string evidence) {
  return {static_cast<unsigned>(error), std::move(evidence)};
}

std::unique_ptr<rt::DataLoader> open_file(const std::string& path, const Mode& mode,
                                          rt::Error* error) {
  if (mode.mapped) {
    auto loader = et::MmapDataLoader::from(path.c_str(), mode.lock);
    *error = loader.error();
    return loader.ok() ? std::make_unique<et::MmapDataLoader>(std::move(loader.get())) : nullptr;
  }
  auto loader = et::FileDataLoader::from(path.c_str());
  *error = loader.error();
  return loader.ok() ? std::make_unique<et::FileDataLoader>(std::move(loader.get())) : nullptr;
}

// Memory that is not touched before it is used, as an allocator of an application gives it.
struct Free {
  void operator()(uint8_t* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<uint8_t, Free>;

Buffer allocate(size_t size) {
  const size_t rounded = (size + kAlignment - 1) / kAlignment * kAlignment;
  return Buffer(rounded < size ? nullptr
                               : static_cast<uint8_t*>(std::aligned_alloc(kAlignment, rounded)));
}

// ETDump, which also tells which instruction is about to run.
class Tracer final : public ::executorch::etdump::ETDumpGen {
 public:
  explicit Tracer(Progress* progress) : progress_(progress) {}

  rt::EventTracerEntry start_profiling(const char* name, rt::ChainID chain,
                                       rt::DebugHandle handle) override {
    if (is_call(name)) {
      progress_->chain.store(chain_id_);
      progress_->instruction.store(debug_handle_);
      ++depth_;
    }
    return ETDumpGen::start_profiling(name, chain, handle);
  }

  void end_profiling(rt::EventTracerEntry entry) override {
    if (depth_ > 0) {
      --depth_;
      progress_->instructions_done.fetch_add(1);
    }
    ETDumpGen::end_profiling(entry);
  }

 private:
  static bool is_call(const char* name) {
    return name != nullptr &&
           (std::strcmp(name, "OPERATOR_CALL") == 0 || std::strcmp(name, "DELEGATE_CALL") == 0);
  }

  Progress* progress_;
  int depth_ = 0;
};

Value value_of(const Tensor& tensor) {
  Value value;
  value.kind = Value::Kind::kTensor;
  value.dtype = static_cast<int>(tensor.scalar_type());
  value.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  value.dim_order.assign(tensor.dim_order().begin(), tensor.dim_order().end());
  if (tensor.const_data_ptr() != nullptr) {
    const auto* const data = static_cast<const uint8_t*>(tensor.const_data_ptr());
    value.bytes.assign(data, data + tensor.nbytes());
  }
  return value;
}

void append(const rt::EValue& from, std::vector<Value>* values) {
  Value value;
  if (from.isTensor()) {
    value = value_of(from.toTensor());
  } else if (from.isInt()) {
    value.kind = Value::Kind::kInt;
    value.integer = from.toInt();
  } else if (from.isDouble()) {
    value.kind = Value::Kind::kDouble;
    value.number = from.toDouble();
  } else if (from.isBool()) {
    value.kind = Value::Kind::kBool;
    value.integer = from.toBool() ? 1 : 0;
  } else if (from.isString()) {
    const auto text = from.toString();
    value.kind = Value::Kind::kString;
    value.text.assign(text.data(), text.size());
  }
  values->push_back(std::move(value));
}

void fill_with_ones(ScalarType type, std::vector<uint8_t>* bytes) {
  const auto fill = [&](auto one) {
    for (size_t i = 0; i + sizeof one <= bytes->size(); i += sizeof one) {
      std::memcpy(bytes->data() + i, &one, sizeof one);
    }
  };
  switch (type) {
    case ScalarType::Float:
      return fill(1.0F);
    case ScalarType::Double:
      return fill(1.0);
    case ScalarType::Half:
      return fill(uint16_t{0x3c00});
    case ScalarType::BFloat16:
      return fill(uint16_t{0x3f80});
    case ScalarType::Long:
      return fill(int64_t{1});
    case ScalarType::Int:
      return fill(int32_t{1});
    case ScalarType::Short:
      return fill(int16_t{1});
    default:
      return fill(uint8_t{1});
  }
}

}  // namespace

struct Session::Loaded {
  std::unique_ptr<rt::DataLoader> file;
  std::vector<std::unique_ptr<rt::DataLoader>> data_files;
  std::vector<std::unique_ptr<et::FlatTensorDataMap>> data_maps;
  std::vector<std::unique_ptr<rt::internal::MergedDataMap>> merged;
  const rt::NamedDataMap* data = nullptr;  // of all of them
  std::unique_ptr<rt::Program> program;
  std::unique_ptr<Tracer> tracer;
  et::MallocMemoryAllocator method_memory;
  et::MallocMemoryAllocator temporary_memory;
  std::vector<uint64_t> planned;
  std::vector<Buffer> buffers;
  std::vector<rt::Span<uint8_t>> spans;
  std::unique_ptr<rt::HierarchicalAllocator> planned_memory;
  std::unique_ptr<rt::MemoryManager> manager;
  std::vector<Buffer> output_buffers;
  std::string etdump;
  // The inputs that are set: storage, then what points into it.
  std::vector<Value> values;
  std::vector<std::vector<TensorImpl::StridesType>> strides;
  std::vector<std::unique_ptr<TensorImpl>> tensors;
  std::vector<rt::EValue> inputs;
  std::unique_ptr<rt::Method> method;  // goes first

  std::optional<Failure> open(const LoadRequest& request);
  std::optional<Failure> plan_memory(const std::string& name);
  std::optional<Failure> provide_outputs();
};

std::vector<std::string> load_modes() {
  std::vector<std::string> names;
  for (const Mode& mode : kModes) {
    names.emplace_back(mode.name);
  }
  return names;
}

Session::Session(Progress* progress) : progress_(progress) {}
Session::~Session() = default;

std::optional<Failure> Session::Loaded::open(const LoadRequest& request) {
  const Mode* mode = &kModes[0];
  for (const Mode& candidate : kModes) {
    mode = request.load_mode == candidate.name ? &candidate : mode;
  }
  rt::Error error = rt::Error::Ok;
  file = open_file(request.program, *mode, &error);
  if (file == nullptr) {
    return failed(error, request.program);
  }
  for (const std::string& path : request.data) {
    data_files.push_back(open_file(path, *mode, &error));
    if (data_files.back() == nullptr) {
      return failed(error, path);
    }
    auto map = et::FlatTensorDataMap::load(data_files.back().get());
    if (!map.ok()) {
      return failed(map.error(), path);
    }
    data_maps.push_back(std::make_unique<et::FlatTensorDataMap>(std::move(map.get())));
  }
  for (const auto& map : data_maps) {
    if (data == nullptr) {
      data = map.get();
      continue;
    }
    auto both = rt::internal::MergedDataMap::load(data, map.get());
    if (!both.ok()) {
      return failed(both.error(), "data files with the same names in them");
    }
    merged.push_back(std::make_unique<rt::internal::MergedDataMap>(std::move(both.get())));
    data = merged.back().get();
  }
  return std::nullopt;
}

std::optional<Failure> Session::Loaded::plan_memory(const std::string& name) {
  const auto meta = program->method_meta(name.c_str());
  if (!meta.ok()) {
    return failed(meta.error(), "method " + name);
  }
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    const auto size = meta->memory_planned_buffer_size(i);
    if (!size.ok() || size.get() < 0) {
      return failed(rt::Error::InvalidProgram, "planned buffer " + std::to_string(i));
    }
    planned.push_back(static_cast<uint64_t>(size.get()));
    buffers.push_back(allocate(static_cast<size_t>(size.get())));
    if (buffers.back() == nullptr) {
      return failed(rt::Error::MemoryAllocationFailed, "planned buffer " + std::to_string(i) +
                                                           " of " + std::to_string(planned.back()) +
                                                           " bytes");
    }
    spans.emplace_back(buffers.back().get(), static_cast<size_t>(size.get()));
  }
  planned_memory = std::make_unique<rt::HierarchicalAllocator>(
      rt::Span<rt::Span<uint8_t>>(spans.data(), spans.size()));
  manager =
      std::make_unique<rt::MemoryManager>(&method_memory, planned_memory.get(), &temporary_memory);
  return std::nullopt;
}

// Outputs that the memory plan leaves out need a place.
std::optional<Failure> Session::Loaded::provide_outputs() {
  const auto meta = method->method_meta();
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    const auto tag = meta.output_tag(i);
    if (!tag.ok() || tag.get() != rt::Tag::Tensor) {
      continue;
    }
    const auto tensor = meta.output_tensor_meta(i);
    if (!tensor.ok() || tensor->is_memory_planned() ||
        method->get_output(i).toTensor().const_data_ptr() != nullptr) {
      continue;
    }
    output_buffers.push_back(allocate(tensor->nbytes()));
    if (output_buffers.back() == nullptr) {
      return failed(rt::Error::MemoryAllocationFailed, "output " + std::to_string(i));
    }
    const rt::Error error =
        method->set_output_data_ptr(output_buffers.back().get(), tensor->nbytes(), i);
    if (error != rt::Error::Ok) {
      return failed(error, "output " + std::to_string(i));
    }
  }
  return std::nullopt;
}

std::optional<Failure> Session::load(const LoadRequest& request) {
  loaded_ = std::make_unique<Loaded>();
  Loaded& l = *loaded_;
  l.etdump = request.etdump;
  progress_->enter(Stage::kOpen);
  if (auto failure = l.open(request)) {
    return failure;
  }
  progress_->enter(Stage::kProgram);
  auto program = rt::Program::load(l.file.get());
  if (!program.ok()) {
    return failed(program.error(), request.program);
  }
  l.program = std::make_unique<rt::Program>(std::move(program.get()));
  progress_->enter(Stage::kMethod);
  if (auto failure = l.plan_memory(request.method)) {
    return failure;
  }
  if (request.trace) {
    l.tracer = std::make_unique<Tracer>(progress_);
  }
  BackendWatch::begin(progress_);
  auto method =
      l.program->load_method(request.method.c_str(), l.manager.get(), l.tracer.get(), l.data);
  BackendWatch::end();
  if (!method.ok()) {
    return failed(method.error(), "method " + request.method);
  }
  l.method = std::make_unique<rt::Method>(std::move(method.get()));
  return l.provide_outputs();
}

std::optional<Failure> Session::set_inputs(const std::vector<Value>& values) {
  progress_->enter(Stage::kInputs);
  Loaded& l = *loaded_;
  if (values.size() != l.method->inputs_size()) {
    return failed(rt::Error::InvalidArgument, std::to_string(values.size()) +
                                                  " inputs given, the method takes " +
                                                  std::to_string(l.method->inputs_size()));
  }
  l.inputs.clear();
  l.tensors.clear();
  l.values = values;
  l.strides.assign(values.size(), {});
  for (size_t i = 0; i < l.values.size(); ++i) {
    Value& value = l.values[i];
    switch (value.kind) {
      case Value::Kind::kTensor: {
        auto& strides = l.strides[i];
        strides.resize(value.sizes.size());
        TensorImpl::StridesType step = 1;
        for (size_t d = value.dim_order.size(); d-- > 0;) {
          strides[value.dim_order[d]] = step;
          step *= value.sizes[value.dim_order[d]] == 0 ? 1 : value.sizes[value.dim_order[d]];
        }
        l.tensors.push_back(std::make_unique<TensorImpl>(
            static_cast<ScalarType>(value.dtype), static_cast<ssize_t>(value.sizes.size()),
            value.sizes.data(), value.bytes.data(), value.dim_order.data(), strides.data()));
        l.inputs.emplace_back(Tensor(l.tensors.back().get()));
        break;
      }
      case Value::Kind::kBool:
        l.inputs.emplace_back(value.integer != 0);
        break;
      case Value::Kind::kInt:
        l.inputs.emplace_back(value.integer);
        break;
      case Value::Kind::kDouble:
        l.inputs.emplace_back(value.number);
        break;
      default:
        l.inputs.emplace_back();
    }
  }
  return std::nullopt;
}

std::optional<Failure> Session::execute() {
  Loaded& l = *loaded_;
  progress_->enter(Stage::kInputs);
  for (size_t i = 0; i < l.inputs.size(); ++i) {
    const rt::Error error = l.method->set_input(l.inputs[i], i);
    if (error != rt::Error::Ok) {
      return failed(error, "input " + std::to_string(i));
    }
  }
  progress_->enter(Stage::kExecute);
  const rt::Error error = l.method->execute();
  if (error != rt::Error::Ok) {
    return failed(error, "execute");
  }
  return std::nullopt;
}

std::vector<Value> Session::outputs() const {
  progress_->enter(Stage::kOutputs);
  std::vector<Value> values;
  for (size_t i = 0; i < loaded_->method->outputs_size(); ++i) {
    const rt::EValue& output = loaded_->method->get_output(i);
    if (output.isTensorList()) {
      for (const Tensor& tensor : output.toTensorList()) {
        values.push_back(value_of(tensor));
      }
    } else {
      append(output, &values);
    }
  }
  return values;
}

std::optional<Failure> Session::finish() {
  if (loaded_->tracer == nullptr || loaded_->etdump.empty()) {
    return std::nullopt;
  }
  const auto dump = loaded_->tracer->get_etdump_data();
  const std::string part = loaded_->etdump + ".part";
  std::FILE* const file = std::fopen(part.c_str(), "wb");
  bool good = file != nullptr && dump.buf != nullptr;
  if (file != nullptr) {
    good = good && std::fwrite(dump.buf, 1, dump.size, file) == dump.size;
    good = std::fclose(file) == 0 && good;
  }
  std::free(dump.buf);
  good = good && std::rename(part.c_str(), loaded_->etdump.c_str()) == 0;
  return good ? std::nullopt
              : std::optional<Failure>(failed(rt::Error::AccessFailed, loaded_->etdump));
}

std::vector<uint64_t> Session::planned_bytes() const {
  return loaded_ == nullptr ? std::vector<uint64_t>() : loaded_->planned;
}

std::optional<Failure> Session::example_inputs(std::vector<Value>* values) const {
  const auto meta = loaded_->method->method_meta();
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    const auto tag = meta.input_tag(i);
    if (!tag.ok()) {
      return failed(tag.error(), "input " + std::to_string(i));
    }
    Value value;
    switch (tag.get()) {
      case rt::Tag::Tensor: {
        const auto tensor = meta.input_tensor_meta(i);
        if (!tensor.ok()) {
          return failed(tensor.error(), "input " + std::to_string(i));
        }
        value.kind = Value::Kind::kTensor;
        value.dtype = static_cast<int>(tensor->scalar_type());
        value.sizes.assign(tensor->sizes().begin(), tensor->sizes().end());
        value.dim_order.assign(tensor->dim_order().begin(), tensor->dim_order().end());
        value.bytes.resize(tensor->nbytes());
        fill_with_ones(tensor->scalar_type(), &value.bytes);
        break;
      }
      case rt::Tag::Int:
        value.kind = Value::Kind::kInt;
        value.integer = 1;
        break;
      case rt::Tag::Double:
        value.kind = Value::Kind::kDouble;
        value.number = 1;
        break;
      case rt::Tag::Bool:
        value.kind = Value::Kind::kBool;
        value.integer = 1;
        break;
      default:
        break;
    }
    values->push_back(std::move(value));
  }
  return std::nullopt;
}

std::vector<std::string> registered_backends() {
  std::vector<std::string> names;
  for (size_t i = 0; i < rt::get_num_registered_backends(); ++i) {
    const auto name = rt::get_backend_name(i);
    if (name.ok()) {
      names.emplace_back(name.get());
    }
  }
  return names;
}

bool is_available(const std::string& backend) {
  const rt::BackendInterface* const found = rt::get_backend_class(backend.c_str());
  return found != nullptr && found->is_available();
}

std::vector<std::string> missing_operators(const std::vector<std::string>& names) {
  const auto kernels = rt::get_registered_kernels();
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    bool found = false;
    for (const auto& kernel : kernels) {
      found = found || name == kernel.name_;
    }
    if (!found) {
      missing.push_back(name);
    }
  }
  return missing;
}

unsigned set_threads(unsigned count) {
  auto* const pool = et::threadpool::get_threadpool();
  if (pool == nullptr) {
    return 1;
  }
  if (count != 0) {
    pool->_unsafe_reset_threadpool(count);
  }
  return static_cast<unsigned>(pool->get_thread_count());
}

}  // namespace etbk::runner
