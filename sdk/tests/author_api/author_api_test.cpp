// The author API against a fake host: what reaches the delegate class, and what reaches the host.
// Compiled twice: with exceptions, and with -fno-exceptions -fno-rtti. Licence: BSD-3-Clause.
#include <gtest/gtest.h>
#include <executorch_backend_kit/backend.hpp>

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "fake_host.hpp"
#include "heap_counter.hpp"

namespace {

// Uses the whole surface; every function returns its errors.
class WholeSurface {
 public:
  static constexpr auto info =
      etbk::Info("WholeSurface")
          .blob_formats(2, 5)
          .alignment(64)
          .concurrency(etbk::Concurrency::kNone)
          .device_types(3)
          .capabilities(ETBK_CAPABILITY_NAMED_DATA | ETBK_CAPABILITY_PROFILING);
  static inline int alive = 0;
  static inline std::string option_text = "slow";

  static etbk::Result<std::unique_ptr<WholeSurface>> create(etbk::InitContext& init) {
    auto made = std::make_unique<WholeSurface>();
    etbk::Result<etbk::NamedData> weights = init.named_data("weights");
    if (!weights.ok()) {
      return std::move(weights).error();
    }
    made->weights = *std::move(weights);
    if (const etbk::Error error = init.read_option("threads", made->threads); error.failed()) {
      return error;
    }
    if (init.blob().empty()) {
      return etbk::Error(ETBK_STATUS_INCOMPATIBLE_BLOB);
    }
    made->spec = init.spec("mode").has_value();
    made->method = init.method_name();
    made->scope = init.program_scope();
    made->table = init.allocate_persistent<float>(4, 64);
    if (made->table == nullptr) {
      return etbk::Error(ETBK_STATUS_OUT_OF_MEMORY, "no room for the table");
    }
    auto event = init.profile("pack");
    init.release_blob();
    init.log(ETBK_LOG_INFO, "ready");
    return made;
  }

  WholeSurface() { ++alive; }
  WholeSurface(const WholeSurface&) = delete;
  WholeSurface& operator=(const WholeSurface&) = delete;
  ~WholeSurface() { --alive; }

  etbk::Error execute(etbk::ExecuteContext& run) {
    if (run.changed()) {
      ETBK_RETURN_IF_FAILED(run.check_count(2));
      ETBK_RETURN_IF_FAILED(run.resize(1, run.sizes(0)));
    }
    auto event = run.profile("copy");
    const etbk::Span<const float> from = run.elements<const float>(0);
    float* const to = run.data<float>(1);
    for (size_t i = 0; i < from.size(); ++i) {
      to[i] = from[i];
    }
    return {};
  }

  static etbk::Error is_available(const etbk::HostContext& host) {
    if (host.runtime_version() != "9.8.7") {
      return etbk::Error::format(ETBK_STATUS_UNAVAILABLE, "no driver %d", 7);
    }
    return {};
  }
  static etbk::BlobGrade check_blob(const etbk::HostContext&, etbk::Bytes head, uint64_t size) {
    if (head.empty()) {
      return etbk::BlobGrade::unusable("the blob is empty");
    }
    return size > 8 ? etbk::BlobGrade::usable("a rebuild would be faster")
                    : etbk::BlobGrade::optimal();
  }
  static etbk::Error set_option(const etbk::HostContext&, const etbk::Option& option) {
    std::string_view text;
    ETBK_RETURN_IF_FAILED(option.read(text));
    option_text = text;
    return {};
  }
  static etbk::Result<etbk::OptionValue> get_option(const etbk::HostContext&,
                                                    std::string_view key) {
    if (key == "speed") {
      return etbk::OptionValue(option_text);
    }
    if (key == "threads") {
      return etbk::OptionValue(int64_t{4});
    }
    if (key == "fast") {
      return etbk::OptionValue(true);
    }
    return etbk::Error::format(ETBK_STATUS_NOT_FOUND, "no option '%.*s'",
                               static_cast<int>(key.size()), key.data());
  }
  static const void* extension(std::string_view name, uint32_t revision) {
    return name == "etbk.test" && revision == 3 ? &alive : nullptr;
  }

  etbk::NamedData weights;
  int64_t threads = 1;
  bool spec = false;
  std::string method;
  uint64_t scope = 0;
  float* table = nullptr;
};

// The other forms: a value from `create`, a raw status from execute.
class ByValue {
 public:
  static constexpr auto info = etbk::Info("ByValue");
  static etbk::Result<ByValue> create(etbk::InitContext& init) {
    ByValue made;
    made.parallel.emplace(init);
    return made;
  }
  EtbkStatus execute(etbk::ExecuteContext& run) {
    float* const out = run.data<float>(0);
    const etbk::Error error = (*parallel)(run, 4, [&](size_t index) -> etbk::Error {
      if (out[index] < 0) {
        return etbk::Error(ETBK_STATUS_INVALID_ARGUMENT, "negative");
      }
      out[index] += 1.0f;
      return {};
    });
    if (error.failed()) {
      run.api()->set_error(run.api(), etbk::to_abi(error.text()));
    }
    return error.status();
  }
  std::optional<etbk::ParallelFor> parallel;
};

// A constructor, and an execute that cannot fail or throws.
class Thrower {
 public:
  static constexpr auto info = etbk::Info("Thrower");
  explicit Thrower(const etbk::InitContext& init) { fail(init.blob()); }
  void execute(const etbk::ExecuteContext& run) {
    if (run.count() == 1) {
      const auto text = run.elements<const unsigned char>(0);
      fail(etbk::Bytes(text.data(), text.size()));
    }
  }

 private:
  static void fail(etbk::Bytes how) {
#if ETBK_EXCEPTIONS
    const std::string text(how.begin(), how.end());
    if (text == "error") {
      throw etbk::Error(ETBK_STATUS_NOT_SUPPORTED, "not this one");
    }
    if (text == "standard") {
      throw std::runtime_error("the driver said no");
    }
    if (text == "memory") {
      throw std::bad_alloc();
    }
    if (text == "unknown") {
      throw 7;
    }
#else
    static_cast<void>(how);
#endif
  }
};

}  // namespace

ETBK_PLUGIN(author_api_test, "A Vendor", "1.2.3", WholeSurface, ByValue, Thrower);

namespace {

const EtbkBackendApi* backend(FakeHost& host, size_t index) {
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof(plugin);
  EXPECT_TRUE(etbk_plugin_entry(&host.api, &plugin) == ETBK_STATUS_OK);
  return plugin.backends[index];
}

EtbkInit init_with(std::string_view blob) {
  EtbkInit init{};
  init.struct_size = sizeof(init);
  init.blob = {blob.data(), blob.size()};
  return init;
}

std::string text(EtbkString string) { return std::string(string.data, string.size); }

}  // namespace

TEST(AuthorApi, EntryOffersAllBackends) {
  FakeHost host;
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof(plugin);
  EXPECT_TRUE(etbk_plugin_entry(&host.api, &plugin) == ETBK_STATUS_OK);
  EXPECT_TRUE(plugin.abi_major == ETBK_ABI_MAJOR && plugin.abi_minor == ETBK_ABI_MINOR);
  EXPECT_TRUE(plugin.abi_minor_needed == 9);
  EXPECT_TRUE(text(plugin.name) == "author_api_test");
  EXPECT_TRUE(plugin.backend_count == 3);
  const EtbkBackendInfo& info = *plugin.backends[0]->info;
  EXPECT_TRUE(text(info.id) == "WholeSurface" && text(info.vendor) == "A Vendor");
  EXPECT_TRUE(text(info.version) == "1.2.3");
  EXPECT_TRUE(info.blob_format_oldest == 2 && info.blob_format_newest == 5);
  EXPECT_TRUE(info.blob_alignment == 64 && info.device_types == 3);
  EXPECT_TRUE(info.concurrency == ETBK_CONCURRENCY_NONE);
  EXPECT_TRUE(info.capabilities == (ETBK_CAPABILITY_NAMED_DATA | ETBK_CAPABILITY_PROFILING));
  EXPECT_TRUE(plugin.backends[1]->is_available == nullptr &&
              plugin.backends[1]->check_blob == nullptr);
  EXPECT_TRUE(plugin.backends[1]->set_option == nullptr &&
              plugin.backends[1]->get_option == nullptr);
  EXPECT_TRUE(plugin.backends[1]->get_extension == nullptr);
  EtbkPluginApi again{};
  again.struct_size = sizeof(again);
  EXPECT_TRUE(etbk_plugin_entry(&host.api, &again) == ETBK_STATUS_OK);
  EXPECT_TRUE(again.backends == plugin.backends);
}

TEST(AuthorApi, EntryRefusesAnOlderHost) {
  FakeHost host;
  host.api.abi_minor = 8;
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof(plugin);
  EXPECT_TRUE(etbk_plugin_entry(&host.api, &plugin) == ETBK_STATUS_HOST_TOO_OLD);
  EXPECT_TRUE(
      host.error ==
      "the host speaks plugin ABI 0.8 and this plugin needs at least 0.9: use a newer host");
  EXPECT_TRUE(plugin.abi_minor == ETBK_ABI_MINOR && plugin.backends == nullptr);
}

TEST(AuthorApi, EntryRefusesAHostOfAnotherMajor) {
  FakeHost host;
  host.api.abi_major = ETBK_ABI_MAJOR + 1;
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof(plugin);
  EXPECT_TRUE(etbk_plugin_entry(&host.api, &plugin) == ETBK_STATUS_HOST_TOO_NEW);
  EXPECT_TRUE(plugin.abi_major == ETBK_ABI_MAJOR && plugin.abi_minor_needed == 9);
  EXPECT_TRUE(host.error.empty());  // its table is not known to have set_error in this place
}

TEST(AuthorApi, EntryRefusesAShortTable) {
  FakeHost host;
  host.api.struct_size = offsetof(EtbkHostApi, get_extension);
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof(plugin);
  EXPECT_TRUE(etbk_plugin_entry(&host.api, &plugin) == ETBK_STATUS_HOST_TOO_OLD);
  host.api.struct_size = sizeof(host.api);
  plugin.struct_size = offsetof(EtbkPluginApi, backends);
  EXPECT_TRUE(etbk_plugin_entry(&host.api, &plugin) == ETBK_STATUS_INVALID_ARGUMENT);
  EXPECT_TRUE(etbk_plugin_entry(nullptr, &plugin) == ETBK_STATUS_INVALID_ARGUMENT);
  EXPECT_TRUE(etbk_plugin_entry(&host.api, nullptr) == ETBK_STATUS_INVALID_ARGUMENT);
}

TEST(AuthorApi, EntryAcceptsANewerHost) {
  FakeHost host;
  host.api.abi_minor = ETBK_ABI_MINOR + 5;
  host.api.struct_size = sizeof(host.api) + 64;
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof(plugin) + 8;
  EXPECT_TRUE(etbk_plugin_entry(&host.api, &plugin) == ETBK_STATUS_OK);
}

TEST(AuthorApi, NoteTellsTheIdentity) {
  const std::string expected =
      "name=author_api_test\nvendor=A Vendor\nversion=1.2.3\n"
      "id=WholeSurface\nid=ByValue\nid=Thrower\n";
  EXPECT_TRUE(std::string(etbk_plugin_note.text) == expected);
  EXPECT_TRUE(sizeof(etbk_plugin_note.text) % 4 == 0);
  EXPECT_TRUE(etbk_plugin_note.header.desc_size == 16 + sizeof(etbk_plugin_note.text));
  EXPECT_TRUE(etbk_plugin_note.header.name_size == 5 &&
              etbk_plugin_note.header.type == ETBK_NOTE_TYPE);
  EXPECT_TRUE(std::string(etbk_plugin_note.header.name) == "ETBK");
  EXPECT_TRUE(sizeof(etbk_plugin_note) == sizeof(EtbkNoteHeader) + sizeof(etbk_plugin_note.text));
}

TEST(AuthorApi, CreateGetsAllOfInit) {
  FakeHost host;
  host.named_data["weights"] = "0123";
  int profiler = 0;
  const EtbkCompileSpec specs[] = {{{nullptr, 0}, {nullptr, 0}}, {{"mode", 4}, {"x", 1}}};
  const EtbkOption options[] = {{{"threads", 7}, ETBK_OPTION_INT, 0, 3, {nullptr, 0}}};
  EtbkInit init = init_with("blob");
  init.method_name = {"forward", 7};
  init.specs = specs;
  init.spec_count = 2;
  init.options = options;
  init.option_count = 1;
  init.program_scope = 99;
  init.profiler = &profiler;
  void* handle = nullptr;
  const EtbkBackendApi* const api = backend(host, 0);
  EXPECT_TRUE(api->init(&host.api, api, &init, &handle) == ETBK_STATUS_OK);
  const auto* const made = static_cast<WholeSurface*>(handle);
  EXPECT_TRUE(made->spec && made->method == "forward" && made->scope == 99 && made->threads == 3);
  EXPECT_TRUE(std::string(made->weights.bytes().begin(), made->weights.bytes().end()) == "0123");
  EXPECT_TRUE(reinterpret_cast<uintptr_t>(made->table) % 64 == 0);
  EXPECT_TRUE(host.blob_releases == 1 && host.entries_out == 1 && WholeSurface::alive == 1);
  EXPECT_TRUE(host.events == (std::vector<std::string>{"begin pack", "end 42 0"}));
  EXPECT_TRUE(host.lines.size() == 1);
  EXPECT_TRUE(host.lines[0].find("author_api_test.cpp:") != std::string::npos);
  api->destroy(&host.api, handle);
  EXPECT_TRUE(host.entries_out == 0 && WholeSurface::alive == 0);
}

TEST(AuthorApi, FailedInitLeavesNothingBehind) {
  FakeHost host;
  void* handle = nullptr;
  const EtbkBackendApi* const api = backend(host, 0);
  EtbkInit init = init_with("blob");
  EXPECT_TRUE(api->init(&host.api, api, &init, &handle) == ETBK_STATUS_NOT_FOUND);
  EXPECT_TRUE(host.error ==
              "there is no 'weights'");  // the host's own sentence is not written over
  host.named_data["weights"] = "0123";
  init.blob = {};
  EXPECT_TRUE(api->init(&host.api, api, &init, &handle) == ETBK_STATUS_INCOMPATIBLE_BLOB);
  EXPECT_TRUE(host.error == "the blob does not fit this backend, version or device");
  init = init_with("blob");
  host.exhausted = true;
  EXPECT_TRUE(api->init(&host.api, api, &init, &handle) == ETBK_STATUS_OUT_OF_MEMORY);
  EXPECT_TRUE(host.error == "no room for the table");
  const EtbkOption options[] = {{{"threads", 7}, ETBK_OPTION_STRING, 0, 0, {"many", 4}}};
  init.options = options;
  init.option_count = 1;
  EXPECT_TRUE(api->init(&host.api, api, &init, &handle) == ETBK_STATUS_INVALID_TYPE);
  EXPECT_TRUE(host.error == "option 'threads' is of kind string, and int is needed");
  EXPECT_TRUE(handle == nullptr && WholeSurface::alive == 0 && host.entries_out == 0);
}

TEST(AuthorApi, ExecuteAllocatesNothingAndTellsErrors) {
  FakeHost host;
  host.named_data["weights"] = "0123";
  const EtbkBackendApi* const api = backend(host, 0);
  const EtbkInit init = init_with("blob");
  void* handle = nullptr;
  EXPECT_TRUE(api->init(&host.api, api, &init, &handle) == ETBK_STATUS_OK);
  FakeExecution run(2, {2, 2});
  run.memory[0].assign(4, 5.0f);
  EXPECT_TRUE(api->execute(&host.api, &run.abi, handle) == ETBK_STATUS_OK);
  EXPECT_TRUE(run.memory[1] == run.memory[0]);
  run.abi.changed = 0;
  const int before = heap_allocations();
  EXPECT_TRUE(api->execute(&host.api, &run.abi, handle) == ETBK_STATUS_OK);
  EXPECT_TRUE(heap_allocations() == before);
  run.abi.changed = 1;
  host.service_status = ETBK_STATUS_NOT_SUPPORTED;
  EXPECT_TRUE(api->execute(&host.api, &run.abi, handle) == ETBK_STATUS_NOT_SUPPORTED);
  EXPECT_TRUE(host.error == "the host's own sentence");
  run.abi.count = 1;
  EXPECT_TRUE(api->execute(&host.api, &run.abi, handle) == ETBK_STATUS_INVALID_ARGUMENT);
  EXPECT_TRUE(host.error == "the delegate got 1 arguments and was compiled for 2");
  api->destroy(&host.api, handle);
}

TEST(AuthorApi, HooksReachTheClass) {
  FakeHost host;
  const EtbkBackendApi* const api = backend(host, 0);
  EXPECT_TRUE(api->is_available(&host.api, api) == ETBK_STATUS_OK);
  host.api.runtime_version = {"1", 1};
  EXPECT_TRUE(api->is_available(&host.api, api) == ETBK_STATUS_UNAVAILABLE);
  EXPECT_TRUE(host.error == "no driver 7");
  uint32_t grade = 99;
  EXPECT_TRUE(api->check_blob(&host.api, api, {"x", 1}, 8, &grade) == ETBK_STATUS_OK);
  EXPECT_TRUE(grade == ETBK_BLOB_OPTIMAL);
  EXPECT_TRUE(api->check_blob(&host.api, api, {"x", 1}, 9, &grade) == ETBK_STATUS_OK);
  EXPECT_TRUE(grade == ETBK_BLOB_USABLE && host.error == "a rebuild would be faster");
  EXPECT_TRUE(api->check_blob(&host.api, api, {nullptr, 0}, 0, &grade) == ETBK_STATUS_OK);
  EXPECT_TRUE(grade == ETBK_BLOB_UNUSABLE && host.error == "the blob is empty");
  EXPECT_TRUE(api->get_extension(api, {"etbk.test", 9}, 3) == &WholeSurface::alive);
  EXPECT_TRUE(api->get_extension(api, {"etbk.test", 9}, 2) == nullptr);
}

TEST(AuthorApi, OptionsGoBothWays) {
  FakeHost host;
  const EtbkBackendApi* const api = backend(host, 0);
  EtbkOption option{{"speed", 5}, ETBK_OPTION_STRING, 0, 0, {"fast", 4}};
  EXPECT_TRUE(api->set_option(&host.api, api, &option) == ETBK_STATUS_OK);
  option.text = {};
  EXPECT_TRUE(api->get_option(&host.api, api, &option) == ETBK_STATUS_OK);
  EXPECT_TRUE(option.kind == ETBK_OPTION_STRING && text(option.text) == "fast");
  option.kind = ETBK_OPTION_INT;
  EXPECT_TRUE(api->set_option(&host.api, api, &option) == ETBK_STATUS_INVALID_TYPE);
  option.key = {"threads", 7};
  EXPECT_TRUE(api->get_option(&host.api, api, &option) == ETBK_STATUS_OK);
  EXPECT_TRUE(option.kind == ETBK_OPTION_INT && option.number == 4);
  option.key = {"fast", 4};
  EXPECT_TRUE(api->get_option(&host.api, api, &option) == ETBK_STATUS_OK);
  EXPECT_TRUE(option.kind == ETBK_OPTION_BOOL && option.number == 1);
  option.key = {"other", 5};
  EXPECT_TRUE(api->get_option(&host.api, api, &option) == ETBK_STATUS_NOT_FOUND);
  EXPECT_TRUE(host.error == "no option 'other'");
  WholeSurface::option_text.assign(300, 'x');
  option.key = {"speed", 5};
  EXPECT_TRUE(api->get_option(&host.api, api, &option) == ETBK_STATUS_INTERNAL);
}

TEST(AuthorApi, NamedDataMovesAndReleasesOnce) {
  FakeHost host;
  host.named_data["a"] = "bytes";
  const EtbkInit abi = init_with("blob");
  const etbk::InitContext init(&host.api, &abi);
  {
    etbk::Result<etbk::NamedData> got = init.named_data("a");
    EXPECT_TRUE(got.ok() && host.entries_out == 1);
    etbk::NamedData first = *std::move(got);
    etbk::NamedData second = std::move(first);
    EXPECT_TRUE(second.bytes().size() == 5 && host.entries_out == 1);
    etbk::NamedData third;
    third = std::move(second);
    EXPECT_TRUE(third.bytes().size() == 5 && host.entries_out == 1);
    third = etbk::NamedData();
    EXPECT_TRUE(third.bytes().empty() && host.entries_out == 0);
    third.release();
  }
  EXPECT_TRUE(host.entries_out == 0);
  char buffer[3];
  EXPECT_TRUE(!init.load_named_data("a", buffer, 3).failed() && std::memcmp(buffer, "byt", 3) == 0);
  EXPECT_TRUE(init.load_named_data("b", buffer, 3).failed());
  EXPECT_TRUE(init.named_data_count() == 1 && *init.named_data_key(0) == "a");
  EXPECT_TRUE(!init.named_data_key(1).ok());
  EXPECT_TRUE(init.named_data_layout("a")->rank == 2);
}

TEST(AuthorApi, ScalarsAndListsAreTyped) {
  FakeHost host;
  FakeExecution run(7, {1});
  int64_t integer = -5;
  double floating = 2.5;
  unsigned char truth = 1;
  const int64_t integers[] = {1, 2, 3};
  const uint32_t kinds[] = {ETBK_ARGUMENT_INT,        ETBK_ARGUMENT_DOUBLE,   ETBK_ARGUMENT_BOOL,
                            ETBK_ARGUMENT_STRING,     ETBK_ARGUMENT_INT_LIST, ETBK_ARGUMENT_NONE,
                            ETBK_ARGUMENT_TENSOR_LIST};
  char word[] = "word";
  void* const data[] = {&integer, &floating, &truth, word, const_cast<int64_t*>(integers),
                        nullptr,  nullptr};
  for (size_t i = 0; i < 7; ++i) {
    run.descriptors[i].kind = kinds[i];
    run.data[i] = data[i];
  }
  run.descriptors[3].count = 4;
  run.descriptors[4].count = 3;
  const etbk::ExecuteContext context(&host.api, &run.abi);
  EXPECT_TRUE(*context.integer(0) == -5 && *context.floating(1) == 2.5 && *context.boolean(2));
  EXPECT_TRUE(*context.text(3) == "word");
  EXPECT_TRUE(context.integers(4)->size() == 3 && (*context.integers(4))[2] == 3);
  EXPECT_TRUE(context.integer(5).error().status() == ETBK_STATUS_INVALID_TYPE);
  EXPECT_TRUE(context.integer(5).error().text() == "argument 5 is not an integer");
  EXPECT_TRUE(context.floatings(4).error().failed() && context.booleans(4).error().failed());
  EXPECT_TRUE(context.integer(700).error().failed());
  EXPECT_TRUE(!context.set_integer(0, 9).failed() && integer == 9);
  EXPECT_TRUE(!context.set_floating(1, 0.5).failed() && floating == 0.5);
  EXPECT_TRUE(!context.set_boolean(2, false).failed() && truth == 0);
  EXPECT_TRUE(context.set_integer(1, 9).failed());
  host.list_item.kind = ETBK_ARGUMENT_TENSOR;
  EXPECT_TRUE(context.tensor_list_item(6, 0)->data == &host.list_item_data);
  EXPECT_TRUE(context.tensor_list_item(6, 1).error().status() == ETBK_STATUS_NOT_FOUND);
}

TEST(AuthorApi, MemorySizesDoNotOverflow) {
  FakeHost host;
  FakeExecution run(1, {1});
  const etbk::ExecuteContext context(&host.api, &run.abi);
  EXPECT_TRUE(context.allocate_temporary<double>(SIZE_MAX / 4) == nullptr);
  EXPECT_TRUE(host.blocks.empty());
  EXPECT_TRUE(context.allocate_temporary<double>(10) != nullptr);
  host.exhausted = true;
  EXPECT_TRUE(context.allocate_temporary<double>(10) == nullptr);
}

TEST(AuthorApi, ProfilingCostsNothingWithoutAListener) {
  FakeHost host;
  FakeExecution run(1, {1});
  const etbk::ExecuteContext context(&host.api, &run.abi);
  { const auto event = context.profile("quiet"); }
  EXPECT_TRUE(!context.profiler().listens() && host.events.empty());
  int profiler = 0;
  run.abi.profiler = &profiler;
  {
    auto event = context.profiler().scope(12u);
    event.set_metadata({reinterpret_cast<const unsigned char*>("abc"), 3});
  }
  context.profiler().span("later", 3, context.profiler().now());
  EXPECT_TRUE(host.events == (std::vector<std::string>{"begin 12", "end 42 3", "span later 3-77"}));
}

namespace {

uint32_t ETBK_CALL three_threads(const EtbkHostApi*) { return 3; }
EtbkStatus ETBK_CALL on_threads(const EtbkHostApi*, void(ETBK_CALL* task)(void*, size_t),
                                void* argument, size_t tasks) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < tasks; ++i) {
    threads.emplace_back([=] { task(argument, i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return ETBK_STATUS_OK;
}
const EtbkParallelForExtension thread_extension = {sizeof(EtbkParallelForExtension), 1,
                                                   three_threads, on_threads};

}  // namespace

TEST(AuthorApi, ParallelForRunsEveryTask) {
  FakeHost host;
  for (const bool pool : {false, true}) {
    host.parallel = pool ? &thread_extension : nullptr;
    const etbk::HostContext context(&host.api);
    const etbk::ParallelFor parallel(context);
    EXPECT_TRUE(parallel.available() == pool && parallel.thread_count(context) == (pool ? 3u : 1u));
    std::atomic<int> sum{0};
    const etbk::Error error =
        parallel(context, 8, [&](size_t index) { sum += static_cast<int>(index); });
    EXPECT_TRUE(!error.failed() && sum == 28);
    EXPECT_TRUE(!parallel(context, 0, [](size_t) {}).failed());
  }
}

TEST(AuthorApi, ParallelForTellsTheFirstFailure) {
  FakeHost host;
  for (const bool pool : {false, true}) {
    host.parallel = pool ? &thread_extension : nullptr;
    void* handle = nullptr;
    const EtbkBackendApi* const api = backend(host, 1);
    const EtbkInit init = init_with("blob");
    EXPECT_TRUE(api->init(&host.api, api, &init, &handle) == ETBK_STATUS_OK);
    FakeExecution run(1, {4});
    EXPECT_TRUE(api->execute(&host.api, &run.abi, handle) == ETBK_STATUS_OK);
    EXPECT_TRUE(run.memory[0] == std::vector<float>(4, 1.0f));
    run.memory[0][2] = -1.0f;
    EXPECT_TRUE(api->execute(&host.api, &run.abi, handle) == ETBK_STATUS_INVALID_ARGUMENT);
    EXPECT_TRUE(host.error == "negative");
    api->destroy(&host.api, handle);
  }
}

TEST(AuthorApi, StatusesHaveTexts) {
  EXPECT_TRUE(etbk::status_text(ETBK_STATUS_HOST_TOO_OLD) ==
              "the host is older than the plugin needs");
  EXPECT_TRUE(etbk::status_text(12345) == "unknown status");
  EXPECT_TRUE(etbk::from_abi(EtbkString{nullptr, 0}).empty());
  EXPECT_TRUE(etbk::from_abi(EtbkBytes{nullptr, 5}).empty());
}

#if ETBK_EXCEPTIONS
TEST(AuthorApi, ExceptionsBecomeStatusAndText) {
  struct Case {
    std::string how;
    EtbkStatus status;
    const char* text;
  };
  const Case cases[] = {
      {"error", ETBK_STATUS_NOT_SUPPORTED, "not this one"},
      {"standard", ETBK_STATUS_INTERNAL, "the driver said no"},
      {"memory", ETBK_STATUS_OUT_OF_MEMORY, "std::bad_alloc"},
      {"unknown", ETBK_STATUS_INTERNAL, "an exception that is not a std::exception"}};
  FakeHost host;
  const EtbkBackendApi* const api = backend(host, 2);
  void* handle = nullptr;
  const EtbkInit good = init_with("fine");
  EXPECT_TRUE(api->init(&host.api, api, &good, &handle) == ETBK_STATUS_OK);
  for (const Case& expected : cases) {
    host.error.clear();
    void* none = nullptr;
    const EtbkInit init = init_with(expected.how);
    EXPECT_TRUE(api->init(&host.api, api, &init, &none) == expected.status);
    EXPECT_TRUE(host.error == expected.text && none == nullptr);
    host.error.clear();
    FakeExecution run(1, {1});
    run.data[0] = const_cast<char*>(expected.how.data());
    run.descriptors[0].size_bytes = expected.how.size();
    EXPECT_TRUE(api->execute(&host.api, &run.abi, handle) == expected.status);
    EXPECT_TRUE(host.error == expected.text);
  }
  api->destroy(&host.api, handle);
}

TEST(AuthorApi, ResultsAreReadableAsExceptions) {
  const etbk::Result<int> good = 5;
  EXPECT_TRUE(good.value() == 5);
  const etbk::Result<int> bad = etbk::Error(ETBK_STATUS_NOT_FOUND, "gone");
  bool caught = false;
  try {
    static_cast<void>(bad.value());
  } catch (const etbk::Error& error) {
    caught = error.text() == "gone";
  }
  EXPECT_TRUE(caught);
  etbk::Error().raise();
}

TEST(AuthorApi, ParallelForCatchesWhatTasksThrow) {
  FakeHost host;
  host.parallel = &thread_extension;
  const etbk::HostContext context(&host.api);
  const etbk::Error error =
      etbk::ParallelFor(context)(context, 4, [](size_t) { throw std::runtime_error("in a task"); });
  EXPECT_TRUE(error.status() == ETBK_STATUS_INTERNAL && error.text() == "in a task");
}
#endif
