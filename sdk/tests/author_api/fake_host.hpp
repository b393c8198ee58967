// A host that a test owns: it records what a plugin asks of it, and answers from plain fields.
// Licence: BSD-3-Clause.
#pragma once

#include <executorch_backend_kit/plugin.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

class FakeHost {
 public:
  FakeHost() {
    api.struct_size = sizeof(api);
    api.abi_major = ETBK_ABI_MAJOR;
    api.abi_minor = ETBK_ABI_MINOR;
    api.name = {"FakeHost", 8};
    api.runtime_version = {"9.8.7", 5};
    api.set_error = set_error;
    api.log = log;
    api.allocate_persistent = allocate_persistent;
    api.release_blob = release_blob;
    api.named_data_count = named_data_count;
    api.named_data_key = named_data_key;
    api.get_named_data = get_named_data;
    api.release_named_data = release_named_data;
    api.load_named_data_into = load_named_data_into;
    api.named_data_layout = named_data_layout;
    api.allocate_temporary = allocate_temporary;
    api.resize = resize;
    api.check_argument = check_argument;
    api.tensor_list_item = tensor_list_item;
    api.profile_now = profile_now;
    api.profile_begin = profile_begin;
    api.profile_end = profile_end;
    api.profile_span = profile_span;
    api.get_extension = get_extension;
  }
  FakeHost(const FakeHost&) = delete;
  FakeHost& operator=(const FakeHost&) = delete;
  ~FakeHost() {
    for (void* block : blocks) {
      std::free(block);
    }
  }

  EtbkHostApi api{};  // first member: a callback finds its FakeHost by it

  // Answers.
  std::map<std::string, std::string> named_data;
  bool exhausted = false;                              // no memory is given any more
  EtbkStatus service_status = ETBK_STATUS_OK;          // of resize and check_argument
  const EtbkParallelForExtension* parallel = nullptr;  // NULL: no such extension
  EtbkArgument list_item{};
  float list_item_data = 0;

  // What was asked.
  std::string error;
  std::vector<std::string> lines;
  std::vector<std::string> events;
  std::vector<void*> blocks;
  std::vector<std::vector<int32_t>> resizes;
  int blob_releases = 0;
  int entries_out = 0;

 private:
  static FakeHost& self(const EtbkHostApi* host) {
    return *reinterpret_cast<FakeHost*>(const_cast<EtbkHostApi*>(host));
  }
  static std::string text(EtbkString string) { return std::string(string.data, string.size); }

  static void ETBK_CALL set_error(const EtbkHostApi* host, EtbkString message) {
    self(host).error = text(message);
  }
  static void ETBK_CALL log(const EtbkHostApi* host, uint32_t level, EtbkString file, uint32_t line,
                            EtbkString message) {
    self(host).lines.push_back(std::to_string(level) + " " + text(file) + ":" +
                               std::to_string(line) + " " + text(message));
  }
  static void* allocate(FakeHost& host, size_t size, size_t alignment) {
    if (host.exhausted) {
      return nullptr;
    }
    const size_t step = alignment < sizeof(void*) ? sizeof(void*) : alignment;
    void* const block = std::aligned_alloc(step, (size + step - 1) / step * step);
    host.blocks.push_back(block);
    return block;
  }
  static void* ETBK_CALL allocate_persistent(const EtbkHostApi* host, const EtbkInit*, size_t size,
                                             size_t alignment) {
    return allocate(self(host), size, alignment);
  }
  static void ETBK_CALL release_blob(const EtbkHostApi* host, const EtbkInit*) {
    ++self(host).blob_releases;
  }
  static size_t ETBK_CALL named_data_count(const EtbkHostApi* host, const EtbkInit*) {
    return self(host).named_data.size();
  }
  static EtbkStatus ETBK_CALL named_data_key(const EtbkHostApi* host, const EtbkInit*, size_t index,
                                             EtbkString* key) {
    for (const auto& entry : self(host).named_data) {
      if (index-- == 0) {
        *key = {entry.first.data(), entry.first.size()};
        return ETBK_STATUS_OK;
      }
    }
    return ETBK_STATUS_NOT_FOUND;
  }
  static EtbkStatus ETBK_CALL get_named_data(const EtbkHostApi* host, const EtbkInit*,
                                             EtbkString key, EtbkNamedData* data) {
    const auto found = self(host).named_data.find(text(key));
    if (found == self(host).named_data.end()) {
      self(host).error = "there is no '" + text(key) + "'";
      return ETBK_STATUS_NOT_FOUND;
    }
    if (!ETBK_HAS(data, EtbkNamedData, owner)) {
      return ETBK_STATUS_INVALID_ARGUMENT;
    }
    data->bytes = {found->second.data(), found->second.size()};
    data->owner = &self(host).entries_out;
    ++self(host).entries_out;
    return ETBK_STATUS_OK;
  }
  static void ETBK_CALL release_named_data(const EtbkHostApi*, EtbkNamedData* data) {
    --*static_cast<int*>(data->owner);
  }
  static EtbkStatus ETBK_CALL load_named_data_into(const EtbkHostApi* host, const EtbkInit*,
                                                   EtbkString key, void* buffer, size_t size) {
    const auto found = self(host).named_data.find(text(key));
    if (found == self(host).named_data.end() || size > found->second.size()) {
      return ETBK_STATUS_NOT_FOUND;
    }
    std::memcpy(buffer, found->second.data(), size);
    return ETBK_STATUS_OK;
  }
  static EtbkStatus ETBK_CALL named_data_layout(const EtbkHostApi*, const EtbkInit*, EtbkString,
                                                EtbkNamedLayout* layout) {
    static const int32_t sizes[] = {2, 3};
    layout->dtype = ETBK_DTYPE_FLOAT32;
    layout->rank = 2;
    layout->sizes = sizes;
    layout->size_bytes = 24;
    return ETBK_STATUS_OK;
  }
  static void* ETBK_CALL allocate_temporary(const EtbkHostApi* host, const EtbkExecution*,
                                            size_t size, size_t alignment) {
    return allocate(self(host), size, alignment);
  }
  static EtbkStatus ETBK_CALL resize(const EtbkHostApi* host, const EtbkExecution*, size_t,
                                     const int32_t* sizes, uint32_t rank) {
    self(host).resizes.emplace_back(sizes, sizes + rank);
    self(host).error = "the host's own sentence";
    return self(host).service_status;
  }
  static EtbkStatus ETBK_CALL check_argument(const EtbkHostApi* host,
                                             const EtbkExecution* execution, size_t argument,
                                             const EtbkExpectation* expectation) {
    const EtbkArgument& given = *execution->arguments[argument];
    if (given.dtype != expectation->dtype || given.rank != expectation->rank) {
      self(host).error = "argument differs from what was compiled";
      return ETBK_STATUS_INVALID_ARGUMENT;
    }
    for (uint32_t i = 0; i < given.rank; ++i) {
      if ((expectation->minimum_sizes != nullptr &&
           given.sizes[i] < expectation->minimum_sizes[i]) ||
          (expectation->maximum_sizes != nullptr &&
           given.sizes[i] > expectation->maximum_sizes[i])) {
        self(host).error = "a dimension is out of its bounds";
        return ETBK_STATUS_INVALID_ARGUMENT;
      }
    }
    return self(host).service_status;
  }
  static EtbkStatus ETBK_CALL tensor_list_item(const EtbkHostApi* host, const EtbkExecution*,
                                               size_t, size_t item, EtbkArgument* tensor,
                                               void** data) {
    if (item != 0) {
      return ETBK_STATUS_NOT_FOUND;
    }
    const uint32_t size = tensor->struct_size;
    *tensor = self(host).list_item;
    tensor->struct_size = size;
    *data = &self(host).list_item_data;
    return ETBK_STATUS_OK;
  }
  static uint64_t ETBK_CALL profile_now(const EtbkHostApi*) { return 77; }
  static void ETBK_CALL profile_begin(const EtbkHostApi* host, void*, EtbkString name, uint32_t id,
                                      EtbkProfileEvent* event) {
    event->host_words[0] = 42;
    self(host).events.push_back("begin " + (name.size == 0 ? std::to_string(id) : text(name)));
  }
  static void ETBK_CALL profile_end(const EtbkHostApi* host, void*, EtbkProfileEvent* event,
                                    EtbkBytes metadata) {
    self(host).events.push_back("end " + std::to_string(event->host_words[0]) + " " +
                                std::to_string(metadata.size));
  }
  static void ETBK_CALL profile_span(const EtbkHostApi* host, void*, EtbkString name, uint32_t id,
                                     uint64_t begin, uint64_t end, EtbkBytes) {
    self(host).events.push_back("span " + (name.size == 0 ? std::to_string(id) : text(name)) + " " +
                                std::to_string(begin) + "-" + std::to_string(end));
  }
  static const void* ETBK_CALL get_extension(const EtbkHostApi* host, EtbkString name,
                                             uint32_t revision) {
    const bool known = text(name) == ETBK_EXTENSION_PARALLEL_FOR &&
                       revision == ETBK_EXTENSION_PARALLEL_FOR_REVISION;
    return known ? self(host).parallel : nullptr;
  }
};

// The arguments of one execute, all float tensors of one shape unless a test changes them.
class FakeExecution {
 public:
  FakeExecution(size_t count, std::vector<int32_t> shape)
      : sizes(std::move(shape)), order(sizes.size()), descriptors(count), memory(count) {
    size_t elements = 1;
    for (size_t i = 0; i < sizes.size(); ++i) {
      order[i] = static_cast<uint8_t>(i);
      elements *= static_cast<size_t>(sizes[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      memory[i].assign(elements, 0.0f);
      EtbkArgument& argument = descriptors[i];
      argument.struct_size = sizeof(argument);
      argument.kind = ETBK_ARGUMENT_TENSOR;
      argument.dtype = ETBK_DTYPE_FLOAT32;
      argument.rank = static_cast<uint32_t>(sizes.size());
      argument.sizes = sizes.data();
      argument.dim_order = order.data();
      argument.size_bytes = elements * sizeof(float);
      pointers.push_back(&argument);
      data.push_back(memory[i].data());
    }
    abi.struct_size = sizeof(abi);
    abi.changed = 1;
    abi.count = count;
    abi.data = data.data();
    abi.arguments = pointers.data();
  }

  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<EtbkArgument> descriptors;
  std::vector<std::vector<float>> memory;
  std::vector<const EtbkArgument*> pointers;
  std::vector<void*> data;
  EtbkExecution abi{};
};
