// What the adapter promises both sides, shown on the real runtime's types and registry.
#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/runtime.h>
#include <executorch_backend_kit/host.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "scripted_backend.hpp"

namespace etbk::test {
namespace {

using adapter::Registration;
using rt::Error;
using rt::TensorShapeDynamism;

Registration add(const ScriptedBackend& backend) {
  unsigned runtime_error = 0;
  return adapter::register_backend(backend.table(), &runtime_error);
}

// One backend for the tests of calls; each test writes its own script.
class AdapterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    rt::runtime_init();
    ASSERT_EQ(add(backend()), Registration::kRegistered);
  }
  void SetUp() override {
    backend().on_available = nullptr;
    backend().on_check_blob = nullptr;
    backend().on_init = nullptr;
    backend().on_execute = nullptr;
    backend().on_set_option = nullptr;
    backend().on_get_option = nullptr;
    backend().destroyed = 0;
  }
  static ScriptedBackend& backend() {
    static auto* const instance = new ScriptedBackend("ScriptedBackend");
    return *instance;
  }
};

// --- arguments -----------------------------------------------------------------------------------

TEST_F(AdapterTest, DescribesTensorsOnTheFirstExecute) {
  Arguments arguments;
  arguments.tensor({2, 3});
  arguments.tensor({4}, TensorShapeDynamism::DYNAMIC_BOUND);
  backend().on_execute = [&](const EtbkHostApi*, const EtbkExecution* call) {
    EXPECT_EQ(call->changed, 1u);
    EXPECT_EQ(call->count, 2u);
    const EtbkArgument& first = *call->arguments[0];
    EXPECT_EQ(first.kind, static_cast<uint32_t>(ETBK_ARGUMENT_TENSOR));
    EXPECT_EQ(first.dtype, static_cast<uint32_t>(ETBK_DTYPE_FLOAT32));
    EXPECT_EQ(first.rank, 2u);
    EXPECT_EQ(first.sizes[0], 2);
    EXPECT_EQ(first.sizes[1], 3);
    EXPECT_EQ(first.strides[0], 3);
    EXPECT_EQ(first.dim_order[1], 1);
    EXPECT_EQ(first.size_bytes, 24u);
    EXPECT_EQ(first.capacity_bytes, 24u);
    EXPECT_EQ(first.dynamism, static_cast<uint32_t>(ETBK_DYNAMISM_STATIC));
    EXPECT_EQ(first.device_type, static_cast<uint32_t>(ETBK_DEVICE_CPU));
    const EtbkArgument& second = *call->arguments[1];
    EXPECT_EQ(second.dynamism, static_cast<uint32_t>(ETBK_DYNAMISM_BOUNDED));
    EXPECT_EQ(second.capacity_bytes, 0u) << "ExecuTorch does not tell the bound";
    EXPECT_EQ(call->data[0], arguments.data(0));
    EXPECT_EQ(call->data[1], arguments.data(1));
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  EXPECT_EQ(delegate.execute(arguments), Error::Ok);
}

TEST_F(AdapterTest, SteadyStateAllocatesNothingAndRefreshesNothing) {
  Arguments arguments;
  for (int i = 0; i < 4; ++i) {
    arguments.tensor({8, 8});
  }
  unsigned changed = 0;
  backend().on_execute = [&](const EtbkHostApi*, const EtbkExecution* call) {
    changed += call->changed;
    EXPECT_EQ(call->data[3], arguments.data(3));
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  ASSERT_EQ(delegate.execute(arguments), Error::Ok);
  const adapter::Counters before = adapter::counters();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(delegate.execute(arguments), Error::Ok);
  }
  const adapter::Counters after = adapter::counters();
  EXPECT_EQ(changed, 1u) << "only the first execute";
  EXPECT_EQ(after.executes - before.executes, 1000u);
  EXPECT_EQ(after.descriptor_refreshes, before.descriptor_refreshes);
  EXPECT_EQ(after.heap_allocations, before.heap_allocations);
}

TEST_F(AdapterTest, DataPointersFollowTheTensors) {
  Arguments arguments;
  arguments.tensor({4});
  std::vector<float> elsewhere(4);
  const void* seen = nullptr;
  backend().on_execute = [&](const EtbkHostApi*, const EtbkExecution* call) {
    seen = call->data[0];
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  delegate.execute(arguments);
  arguments.impl(0).set_data(elsewhere.data());
  delegate.execute(arguments);
  EXPECT_EQ(seen, elsewhere.data());
}

TEST_F(AdapterTest, AChangedSizeIsTold) {
  Arguments arguments;
  arguments.tensor({4, 8}, TensorShapeDynamism::DYNAMIC_BOUND);
  std::vector<unsigned> changed;
  std::vector<size_t> bytes;
  backend().on_execute = [&](const EtbkHostApi*, const EtbkExecution* call) {
    changed.push_back(call->changed);
    bytes.push_back(call->arguments[0]->size_bytes);
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  delegate.execute(arguments);
  const int32_t smaller[] = {2, 8};
  ASSERT_EQ(rt::resize_tensor(arguments[0].toTensor(), {smaller, 2}), Error::Ok);
  delegate.execute(arguments);
  delegate.execute(arguments);
  EXPECT_EQ(changed, (std::vector<unsigned>{1, 1, 0}));
  EXPECT_EQ(bytes, (std::vector<size_t>{128, 64, 64}));
}

TEST_F(AdapterTest, AnotherTensorInTheSlotIsTold) {
  Arguments first;
  first.tensor({4});
  Arguments second;
  second.tensor({2, 3});
  std::vector<uint32_t> ranks;
  backend().on_execute = [&](const EtbkHostApi*, const EtbkExecution* call) {
    EXPECT_EQ(call->changed, 1u);
    ranks.push_back(call->arguments[0]->rank);
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  EXPECT_EQ(delegate.execute(first), Error::Ok);
  EXPECT_EQ(delegate.execute(second), Error::Ok);
  EXPECT_EQ(ranks, (std::vector<uint32_t>{1, 2}));
}

TEST_F(AdapterTest, AFailedExecuteMakesTheNextOneAChange) {
  Arguments arguments;
  arguments.tensor({4});
  bool fail = false;
  unsigned changed = 9;
  backend().on_execute = [&](const EtbkHostApi*, const EtbkExecution* call) -> EtbkStatus {
    changed = call->changed;
    return fail ? ETBK_STATUS_INTERNAL : ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  delegate.execute(arguments);
  delegate.execute(arguments);
  EXPECT_EQ(changed, 0u);
  fail = true;
  EXPECT_EQ(delegate.execute(arguments), Error::Internal);
  fail = false;
  EXPECT_EQ(delegate.execute(arguments), Error::Ok);
  EXPECT_EQ(changed, 1u);
}

TEST_F(AdapterTest, ScalarsAndListsArriveAndScalarsCanBeWritten) {
  Arguments arguments;
  arguments.value(rt::EValue(static_cast<int64_t>(7)));
  arguments.value(rt::EValue(2.5));
  arguments.value(rt::EValue(true));
  const char word[] = {'h', 'i'};
  aten::ArrayRef<char> letters(word, 2);
  arguments.value(rt::EValue(&letters));
  rt::EValue five(static_cast<int64_t>(5));
  rt::EValue six(static_cast<int64_t>(6));
  rt::EValue* wrapped[] = {&five, &six};
  int64_t unwrapped[2] = {};
  rt::BoxedEvalueList<int64_t> list(wrapped, unwrapped, 2);
  arguments.value(rt::EValue(&list));
  arguments.value(rt::EValue());
  backend().on_execute = [&](const EtbkHostApi*, const EtbkExecution* call) {
    EXPECT_EQ(*static_cast<int64_t*>(call->data[0]), 7);
    EXPECT_EQ(*static_cast<double*>(call->data[1]), 2.5);
    EXPECT_EQ(*static_cast<uint8_t*>(call->data[2]), 1);
    EXPECT_EQ(call->arguments[3]->count, 2u);
    EXPECT_EQ(std::memcmp(call->data[3], "hi", 2), 0);
    EXPECT_EQ(call->arguments[4]->kind, static_cast<uint32_t>(ETBK_ARGUMENT_INT_LIST));
    EXPECT_EQ(call->arguments[4]->count, 2u);
    EXPECT_EQ(static_cast<int64_t*>(call->data[4])[1], 6);
    EXPECT_EQ(call->arguments[5]->kind, static_cast<uint32_t>(ETBK_ARGUMENT_NONE));
    *static_cast<int64_t*>(call->data[0]) = 42;
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  EXPECT_EQ(delegate.execute(arguments), Error::Ok);
  EXPECT_EQ(arguments[0].toInt(), 42);
  arguments[0] = rt::EValue(static_cast<int64_t>(7));
  EXPECT_EQ(delegate.execute(arguments), Error::Ok) << "the second call reads anew";
}

TEST_F(AdapterTest, TensorListsAreReadItemByItem) {
  Arguments tensors;
  tensors.tensor({2});
  tensors.tensor({3, 4});
  rt::EValue* wrapped[] = {&tensors[0], &tensors[1]};
  std::vector<aten::Tensor> unwrapped{tensors[0].toTensor(), tensors[1].toTensor()};
  rt::BoxedEvalueList<aten::Tensor> list(wrapped, unwrapped.data(), 2);
  Arguments arguments;
  arguments.value(rt::EValue(&list));
  backend().on_execute = [&](const EtbkHostApi* host, const EtbkExecution* call) {
    EXPECT_EQ(call->arguments[0]->kind, static_cast<uint32_t>(ETBK_ARGUMENT_TENSOR_LIST));
    EXPECT_EQ(call->arguments[0]->count, 2u);
    EtbkArgument item{};
    item.struct_size = sizeof item;
    void* data = nullptr;
    EXPECT_EQ(host->tensor_list_item(host, call, 0, 1, &item, &data), ETBK_STATUS_OK);
    EXPECT_EQ(item.rank, 2u);
    EXPECT_EQ(item.sizes[1], 4);
    EXPECT_EQ(data, tensors.data(1));
    EXPECT_EQ(host->tensor_list_item(host, call, 0, 2, &item, &data), ETBK_STATUS_INVALID_ARGUMENT);
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  EXPECT_EQ(delegate.execute(arguments), Error::Ok);
}

TEST_F(AdapterTest, AnotherDeviceIsRefusedWithASentence) {
  int32_t sizes[] = {2};
  int32_t strides[] = {1};
  uint8_t order[] = {0};
  aten::TensorImpl impl(aten::ScalarType::Float, 1, sizes, nullptr, order, strides,
                        TensorShapeDynamism::STATIC, rt::etensor::DeviceType::CUDA, 0);
  Arguments arguments;
  arguments.value(rt::EValue(aten::Tensor(&impl)));
  Delegate delegate(backend());
  EXPECT_EQ(delegate.execute(arguments), Error::NotSupported);
  EXPECT_NE(std::string(adapter::last_error()).find("device type 1"), std::string::npos);
}

// --- outputs -------------------------------------------------------------------------------------

// Runs `script` in an execute with one dynamic tensor [4, 8] and one static tensor [2].
void in_execute(ScriptedBackend& backend,
                std::function<void(const EtbkHostApi*, const EtbkExecution*)> script) {
  Arguments arguments;
  arguments.tensor({4, 8}, TensorShapeDynamism::DYNAMIC_BOUND);
  arguments.tensor({2});
  arguments.value(rt::EValue(static_cast<int64_t>(1)));
  backend.on_execute = [&](const EtbkHostApi* host, const EtbkExecution* call) {
    script(host, call);
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend);
  ASSERT_EQ(delegate.execute(arguments), Error::Ok);
}

// The text that a refused service left behind, shown by failing with it.
std::string pending_text(ScriptedBackend& backend,
                         std::function<EtbkStatus(const EtbkHostApi*, const EtbkExecution*)> call) {
  Arguments arguments;
  arguments.tensor({4, 8}, TensorShapeDynamism::DYNAMIC_BOUND);
  arguments.tensor({2});
  arguments.value(rt::EValue(static_cast<int64_t>(1)));
  backend.on_execute = std::move(call);
  Delegate delegate(backend);
  EXPECT_NE(delegate.execute(arguments), Error::Ok);
  return adapter::last_error();
}

TEST_F(AdapterTest, ResizeUpdatesTheDescriptor) {
  in_execute(backend(), [](const EtbkHostApi* host, const EtbkExecution* call) {
    const int32_t smaller[] = {3, 8};
    EXPECT_EQ(host->resize(host, call, 0, smaller, 2), ETBK_STATUS_OK);
    EXPECT_EQ(call->arguments[0]->sizes[0], 3);
    EXPECT_EQ(call->arguments[0]->size_bytes, 96u);
    const int32_t same[] = {2};
    EXPECT_EQ(host->resize(host, call, 1, same, 1), ETBK_STATUS_OK) << "static, but unchanged";
  });
}

TEST_F(AdapterTest, ABackendsOwnResizeIsNoChangeToIt) {
  Arguments arguments;
  arguments.tensor({4}, TensorShapeDynamism::DYNAMIC_BOUND);
  std::vector<unsigned> changed;
  backend().on_execute = [&](const EtbkHostApi* host, const EtbkExecution* call) {
    changed.push_back(call->changed);
    const int32_t sizes[] = {2};
    return host->resize(host, call, 0, sizes, 1);
  };
  Delegate delegate(backend());
  delegate.execute(arguments);
  delegate.execute(arguments);
  EXPECT_EQ(changed, (std::vector<unsigned>{1, 0}));
}

TEST_F(AdapterTest, ResizeRefusesWithASentence) {
  const auto resize = [](size_t argument, std::vector<int32_t> sizes) {
    return [=](const EtbkHostApi* host, const EtbkExecution* call) {
      return host->resize(host, call, argument, sizes.data(), static_cast<uint32_t>(sizes.size()));
    };
  };
  EXPECT_NE(pending_text(backend(), resize(1, {1})).find("static"), std::string::npos);
  EXPECT_NE(pending_text(backend(), resize(0, {1, 2, 3})).find("2 dimensions"), std::string::npos);
  EXPECT_NE(pending_text(backend(), resize(0, {4, 9})).find("bound"), std::string::npos);
  EXPECT_NE(pending_text(backend(), resize(2, {1})).find("not a tensor"), std::string::npos);
  EXPECT_NE(pending_text(backend(), resize(7, {1})).find("no argument 7"), std::string::npos);
}

TEST_F(AdapterTest, CheckArgumentNamesTheFirstDifference) {
  const auto check = [](uint32_t dtype, std::vector<int32_t> least, std::vector<int32_t> most,
                        std::vector<uint8_t> order) {
    return [=](const EtbkHostApi* host, const EtbkExecution* call) {
      EtbkExpectation expectation{};
      expectation.struct_size = sizeof expectation;
      expectation.dtype = dtype;
      expectation.rank = static_cast<uint32_t>(least.size());
      expectation.minimum_sizes = least.data();
      expectation.maximum_sizes = most.data();
      expectation.dim_order = order.data();
      return host->check_argument(host, call, 0, &expectation);
    };
  };
  const uint32_t f32 = ETBK_DTYPE_FLOAT32;
  EXPECT_NE(pending_text(backend(), check(ETBK_DTYPE_INT64, {1, 8}, {4, 8}, {0, 1})).find("type 6"),
            std::string::npos);
  EXPECT_NE(pending_text(backend(), check(f32, {1}, {4}, {0})).find("2 dimensions"),
            std::string::npos);
  EXPECT_NE(pending_text(backend(), check(f32, {1, 8}, {3, 8}, {0, 1})).find("is 4"),
            std::string::npos);
  EXPECT_NE(pending_text(backend(), check(f32, {1, 8}, {4, 8}, {1, 0})).find("memory format"),
            std::string::npos);
  in_execute(backend(), [&](const EtbkHostApi* host, const EtbkExecution* call) {
    EXPECT_EQ(check(f32, {1, 8}, {4, 8}, {0, 1})(host, call), ETBK_STATUS_OK);
  });
}

// --- memory --------------------------------------------------------------------------------------

#ifndef ETBK_HOST_NO_HEAP
TEST_F(AdapterTest, TemporaryMemoryComesFromTheArenaThenFromTheHeap) {
  std::vector<uint8_t> arena(256);
  rt::MemoryAllocator temporary(256, arena.data());
  Arguments arguments;
  arguments.tensor({1});
  bool inside = false;
  bool aligned = false;
  backend().on_execute = [&](const EtbkHostApi* host, const EtbkExecution* call) {
    auto* const small = static_cast<uint8_t*>(host->allocate_temporary(host, call, 64, 16));
    inside = small >= arena.data() && small < arena.data() + arena.size();
    auto* const large = static_cast<uint8_t*>(host->allocate_temporary(host, call, 1 << 20, 64));
    aligned = large != nullptr && reinterpret_cast<uintptr_t>(large) % 64 == 0;
    std::memset(large, 1, 1 << 20);
    EXPECT_EQ(host->allocate_temporary(host, call, 8, 3), nullptr) << "not a power of two";
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  ASSERT_EQ(delegate.execute(arguments, &temporary), Error::Ok);
  EXPECT_TRUE(inside);
  EXPECT_TRUE(aligned);
}

TEST_F(AdapterTest, TemporaryMemoryWithoutAnArenaComesFromTheHeap) {
  Arguments arguments;
  arguments.tensor({1});
  backend().on_execute = [&](const EtbkHostApi* host, const EtbkExecution* call) {
    void* const memory = host->allocate_temporary(host, call, 100, 4096);
    EXPECT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  EXPECT_EQ(delegate.execute(arguments, nullptr), Error::Ok);
}
#endif

TEST_F(AdapterTest, PersistentMemoryIsTheMethods) {
  backend().on_init = [](const EtbkHostApi* host, const EtbkInit* init, void**) {
    void* const memory = host->allocate_persistent(host, init, 128, 32);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 32, 0u);
    EXPECT_EQ(host->allocate_persistent(host, init, 1 << 20, 16), nullptr) << "arena of 64 KiB";
    return memory == nullptr ? ETBK_STATUS_OUT_OF_MEMORY : ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  EXPECT_EQ(delegate.error, Error::Ok);
}

// --- init ----------------------------------------------------------------------------------------

TEST_F(AdapterTest, InitSeesBlobSpecsAndScope) {
  char value[] = {1, 2};
  std::vector<rt::CompileSpec> specs{{"mode", {value, 2}},
                                     // what ExecuTorch hands out for a file without a key
                                     {reinterpret_cast<const char*>(4), {value, 1}},
                                     {"empty", {nullptr, 3}}};
  backend().on_init = [&](const EtbkHostApi*, const EtbkInit* init, void**) {
    EXPECT_EQ(str(init->method_name), "forward");
    EXPECT_EQ(std::memcmp(init->blob.data, "blob bytes", init->blob.size), 0);
    EXPECT_EQ(init->spec_count, 3u);
    EXPECT_EQ(str(init->specs[0].key), "mode");
    EXPECT_EQ(init->specs[0].value.size, 2u);
    EXPECT_EQ(init->specs[1].key.data, nullptr);
    EXPECT_EQ(init->specs[2].value.size, 0u);
    EXPECT_NE(init->program_scope, 0u);
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend(), specs);
  EXPECT_EQ(delegate.error, Error::Ok);
}

#ifndef ETBK_HOST_NO_HEAP
TEST_F(AdapterTest, ManySpecsAreNotCut) {
  std::vector<std::string> keys;
  std::vector<rt::CompileSpec> specs;
  for (int i = 0; i < 100; ++i) {
    keys.push_back("key" + std::to_string(i));
  }
  for (const std::string& key : keys) {
    specs.push_back({key.c_str(), {nullptr, 0}});
  }
  backend().on_init = [](const EtbkHostApi*, const EtbkInit* init, void**) {
    EXPECT_EQ(init->spec_count, 100u);
    EXPECT_EQ(str(init->specs[99].key), "key99");
    return ETBK_STATUS_OK;
  };
  EXPECT_EQ(Delegate(backend(), specs).error, Error::Ok);
}
#endif

TEST_F(AdapterTest, LoadTimeOptionsArrive) {
  rt::BackendOptions<4> options;
  ASSERT_EQ(options.set_option("threads", 3), Error::Ok);
  ASSERT_EQ(options.set_option("fast", true), Error::Ok);
  ASSERT_EQ(options.set_option("mode", "quiet"), Error::Ok);
  ASSERT_EQ(options.set_option("etbk.program_scope", 77), Error::Ok);
  backend().on_init = [](const EtbkHostApi*, const EtbkInit* init, void**) {
    EXPECT_EQ(init->option_count, 4u);
    EXPECT_EQ(init->options[0].number, 3);
    EXPECT_EQ(init->options[1].kind, static_cast<uint32_t>(ETBK_OPTION_BOOL));
    EXPECT_EQ(str(init->options[2].text), "quiet");
    EXPECT_EQ(init->program_scope, 77u) << "a scope given at load time wins";
    return ETBK_STATUS_OK;
  };
  const auto view = options.view();
  Delegate delegate(backend(), {}, nullptr, {view.data(), view.size()});
  EXPECT_EQ(delegate.error, Error::Ok);
}

TEST_F(AdapterTest, AFailedInitKeepsItsTextAndIsNotDestroyed) {
  backend().on_init = [](const EtbkHostApi* host, const EtbkInit*, void**) {
    host->set_error(host, text("the blob asks for 3 cores, the device has 2"));
    return ETBK_STATUS_INCOMPATIBLE_BLOB;
  };
  {
    Delegate delegate(backend());
    EXPECT_EQ(delegate.error, Error::DelegateInvalidCompatibility);
  }
  EXPECT_EQ(backend().destroyed, 0);
  EXPECT_NE(std::string(adapter::last_error()).find("3 cores"), std::string::npos);
  adapter::ErrorRecord records[64];
  const size_t count = adapter::recent_errors(records, 64);
  ASSERT_GT(count, 0u);
  EXPECT_STREQ(records[count - 1].backend, "ScriptedBackend");
  EXPECT_STREQ(records[count - 1].stage, "init");
}

TEST_F(AdapterTest, TextsThatAreNotUtf8AreMadeSo) {
  backend().on_init = [](const EtbkHostApi* host, const EtbkInit*, void**) {
    host->set_error(host, text("name \xff, \xc3\xa4, \xe2\x82"));
    return ETBK_STATUS_INCOMPATIBLE_BLOB;
  };
  EXPECT_EQ(Delegate(backend()).error, Error::DelegateInvalidCompatibility);
  EXPECT_NE(std::string(adapter::last_error()).find("name ?, \xc3\xa4, ??"), std::string::npos);
}

TEST_F(AdapterTest, UnknownStatusCodesBecomeInternalWithTheTextKept) {
  backend().on_init = [](const EtbkHostApi* host, const EtbkInit*, void**) {
    host->set_error(host, text("private trouble"));
    return static_cast<EtbkStatus>(0x4242);
  };
  EXPECT_EQ(Delegate(backend()).error, Error::Internal);
  EXPECT_NE(std::string(adapter::last_error()).find("private trouble"), std::string::npos);
}

TEST_F(AdapterTest, AFailureWithoutATextStillHasASentence) {
  backend().on_init = [](const EtbkHostApi*, const EtbkInit*, void**) {
    return ETBK_STATUS_OUT_OF_MEMORY;
  };
  EXPECT_EQ(Delegate(backend()).error, Error::MemoryAllocationFailed);
  EXPECT_NE(std::string(adapter::last_error()).find("memory allocation failed"), std::string::npos);
}

TEST_F(AdapterTest, AnUnavailableBackendSaysWhy) {
  backend().on_available = [](const EtbkHostApi* host) {
    host->set_error(host, text("the driver is not loaded"));
    return ETBK_STATUS_UNAVAILABLE;
  };
  EXPECT_FALSE(backend().runtime_backend()->is_available());
  EXPECT_NE(std::string(adapter::last_error()).find("driver is not loaded"), std::string::npos);
}

TEST_F(AdapterTest, TheBlobIsGradedBeforeInit) {
  bool reached = false;
  backend().on_init = [&](const EtbkHostApi*, const EtbkInit*, void**) {
    reached = true;
    return ETBK_STATUS_OK;
  };
  backend().on_check_blob = [](const EtbkHostApi* host, EtbkBytes head, uint32_t* grade) {
    EXPECT_EQ(head.size, 10u);
    host->set_error(host, text("format 9 is newer than 3; install version 4 of the backend"));
    *grade = ETBK_BLOB_NEEDS_REBUILD;
    return ETBK_STATUS_OK;
  };
  EXPECT_EQ(Delegate(backend()).error, Error::DelegateInvalidCompatibility);
  EXPECT_FALSE(reached);
  EXPECT_NE(std::string(adapter::last_error()).find("format 9"), std::string::npos);
  backend().on_check_blob = [](const EtbkHostApi*, EtbkBytes, uint32_t* grade) {
    *grade = ETBK_BLOB_USABLE;
    return ETBK_STATUS_OK;
  };
  EXPECT_EQ(Delegate(backend()).error, Error::Ok);
  EXPECT_TRUE(reached);
}

// --- named data ----------------------------------------------------------------------------------

class FakeNamedData final : public rt::NamedDataMap {
 public:
  mutable int alive = 0;
  rt::Result<const rt::TensorLayout> get_tensor_layout(std::string_view) const override {
    return Error::NotImplemented;
  }
  rt::Result<rt::FreeableBuffer> get_data(std::string_view key) const override {
    if (key != "weights") {
      return Error::NotFound;
    }
    ++alive;
    return rt::FreeableBuffer(
        bytes_, sizeof bytes_,
        [](void* self, void*, size_t) { --static_cast<const FakeNamedData*>(self)->alive; },
        const_cast<FakeNamedData*>(this));
  }
  Error load_data_into(std::string_view, void*, size_t) const override {
    return Error::NotImplemented;  // as for data inside the .pte
  }
  rt::Result<uint32_t> get_num_keys() const override { return 1u; }
  rt::Result<const char*> get_key(uint32_t index) const override {
    return index == 0 ? rt::Result<const char*>("weights") : Error::InvalidArgument;
  }

 private:
  uint8_t bytes_[4] = {1, 2, 3, 4};
};

TEST_F(AdapterTest, NamedDataIsLentUntilReleased) {
  FakeNamedData data;
  EtbkNamedData held{};
  backend().on_init = [&](const EtbkHostApi* host, const EtbkInit* init, void**) {
    EXPECT_EQ(host->named_data_count(host, init), 1u);
    EtbkString key{};
    EXPECT_EQ(host->named_data_key(host, init, 0, &key), ETBK_STATUS_OK);
    EXPECT_EQ(str(key), "weights");
    EXPECT_EQ(host->get_named_data(host, init, key, &held), ETBK_STATUS_OK);
    EXPECT_EQ(held.bytes.size, 4u);
    uint8_t copy[4] = {};
    EXPECT_EQ(host->load_named_data_into(host, init, key, copy, 4), ETBK_STATUS_OK);
    EXPECT_EQ(copy[3], 4);
    EXPECT_NE(host->load_named_data_into(host, init, key, copy, 5), ETBK_STATUS_OK);
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend(), {}, &data);
  ASSERT_EQ(delegate.error, Error::Ok);
  EXPECT_EQ(data.alive, 1);
  EXPECT_EQ(static_cast<const uint8_t*>(held.bytes.data)[2], 3);
  adapter::host_api()->release_named_data(adapter::host_api(), &held);
  EXPECT_EQ(data.alive, 0);
}

TEST_F(AdapterTest, MissingNamedDataNamesTheKey) {
  backend().on_init = [](const EtbkHostApi* host, const EtbkInit* init, void**) {
    EtbkNamedData data{};
    return host->get_named_data(host, init, text("pool"), &data);
  };
  EXPECT_EQ(Delegate(backend()).error, Error::NotFound);
  EXPECT_NE(std::string(adapter::last_error()).find("\"pool\""), std::string::npos);
  EXPECT_NE(std::string(adapter::last_error()).find(".ptd"), std::string::npos);
}

// --- options -------------------------------------------------------------------------------------

TEST_F(AdapterTest, OptionsPassThroughTheRuntimesOwnCalls) {
  std::map<std::string, int64_t> kept;
  backend().on_set_option = [&](const EtbkHostApi* host, const EtbkOption* option) {
    if (str(option->key) != "threads") {
      host->set_error(host, text("the only option is threads"));
      return ETBK_STATUS_NOT_FOUND;
    }
    kept[str(option->key)] = option->number;
    return ETBK_STATUS_OK;
  };
  backend().on_get_option = [&](const EtbkHostApi*, EtbkOption* option) {
    option->kind = ETBK_OPTION_INT;
    option->number = kept[str(option->key)];
    return ETBK_STATUS_OK;
  };
  rt::BackendOptions<2> options;
  ASSERT_EQ(options.set_option("threads", 5), Error::Ok);
  EXPECT_EQ(rt::set_option("ScriptedBackend", options.view()), Error::Ok);
  EXPECT_EQ(kept["threads"], 5);
  kept["threads"] = 8;
  ASSERT_EQ(rt::get_option("ScriptedBackend", options.view()), Error::Ok);
  int value = 0;
  ASSERT_EQ(options.get_option("threads", value), Error::Ok);
  EXPECT_EQ(value, 8);
  rt::BackendOptions<2> wrong;
  ASSERT_EQ(wrong.set_option("color", 1), Error::Ok);
  EXPECT_EQ(rt::set_option("ScriptedBackend", wrong.view()), Error::NotFound);
  EXPECT_NE(std::string(adapter::last_error()).find("only option"), std::string::npos);
}

TEST_F(AdapterTest, AnOptionOfAnUnknownBackendIsNamed) {
  EtbkOption option{};
  option.key = text("threads");
  EXPECT_EQ(adapter::set_option("NobodyBackend", &option), ETBK_STATUS_NOT_FOUND);
  EXPECT_NE(std::string(adapter::last_error()).find("NobodyBackend"), std::string::npos);
  EXPECT_EQ(adapter::get_option("AbsentBackend", &option), ETBK_STATUS_NOT_FOUND);
  EXPECT_NE(std::string(adapter::last_error()).find("AbsentBackend"), std::string::npos);
}

// --- profiling -----------------------------------------------------------------------------------

TEST_F(AdapterTest, ProfilingEventsReachTheETDump) {
  ::executorch::etdump::ETDumpGen tracer;
  tracer.create_event_block("block");
  Arguments arguments;
  arguments.tensor({1});
  backend().on_execute = [](const EtbkHostApi* host, const EtbkExecution* call) {
    EXPECT_NE(call->profiler, nullptr);
    EtbkProfileEvent event;
    host->profile_begin(host, call->profiler, text("scripted_matmul"), 0, &event);
    host->profile_end(host, call->profiler, &event, {"m", 1});
    const uint64_t now = host->profile_now(host);
    host->profile_span(host, call->profiler, text("scripted_copy"), 0, now, now + 1, {nullptr, 0});
    return ETBK_STATUS_OK;
  };
  Delegate delegate(backend());
  ASSERT_EQ(delegate.execute(arguments, nullptr, &tracer), Error::Ok);
  const auto dump = tracer.get_etdump_data();
  ASSERT_NE(dump.buf, nullptr);
  const std::string bytes(static_cast<const char*>(dump.buf), dump.size);
  std::free(dump.buf);
  EXPECT_NE(bytes.find("scripted_matmul"), std::string::npos);
  EXPECT_NE(bytes.find("scripted_copy"), std::string::npos);
}

TEST_F(AdapterTest, WithoutATracerProfilingDoesNothing) {
  in_execute(backend(), [](const EtbkHostApi* host, const EtbkExecution* call) {
    EXPECT_EQ(call->profiler, nullptr);
    EtbkProfileEvent event;
    host->profile_begin(host, call->profiler, text("x"), 0, &event);
    host->profile_end(host, call->profiler, &event, {nullptr, 0});
  });
}

#ifdef ETBK_HOST_NO_HEAP
TEST_F(AdapterTest, WithoutAHeapLimitsAreToldInSentences) {
  Arguments arguments;
  for (int i = 0; i < ETBK_HOST_MAX_ARGUMENTS + 1; ++i) {
    arguments.tensor({1});
  }
  Delegate delegate(backend());
  EXPECT_EQ(delegate.execute(arguments), Error::OutOfResources);
  EXPECT_NE(std::string(adapter::last_error()).find("ETBK_HOST_MAX_ARGUMENTS"), std::string::npos);
  std::vector<rt::CompileSpec> specs(17, {"key", {nullptr, 0}});
  EXPECT_EQ(Delegate(backend(), specs).error, Error::MemoryAllocationFailed);
  Arguments few;
  few.tensor({1});
  backend().on_execute = [](const EtbkHostApi* host, const EtbkExecution* call) {
    EXPECT_EQ(host->allocate_temporary(host, call, 16, 16), nullptr) << "no arena, no heap";
    return ETBK_STATUS_OK;
  };
  Delegate other(backend());
  EXPECT_EQ(other.execute(few), Error::Ok);
}
#endif

// --- extensions and threads ----------------------------------------------------------------------

TEST_F(AdapterTest, ParallelForRunsEveryTaskOnce) {
  const EtbkHostApi* const host = adapter::host_api();
  const auto* const extension = static_cast<const EtbkParallelForExtension*>(
      host->get_extension(host, text(ETBK_EXTENSION_PARALLEL_FOR), 1));
  ASSERT_NE(extension, nullptr);
  EXPECT_GE(extension->thread_count(host), 1u);
  std::vector<std::atomic<int>> hits(1000);
  const auto task = [](void* argument, size_t index) {
    ++(*static_cast<std::vector<std::atomic<int>>*>(argument))[index];
  };
  EXPECT_EQ(extension->parallel_for(host, task, &hits, hits.size()), ETBK_STATUS_OK);
  for (const std::atomic<int>& hit : hits) {
    EXPECT_EQ(hit.load(), 1);
  }
  EXPECT_EQ(host->get_extension(host, text(ETBK_EXTENSION_PARALLEL_FOR), 2), nullptr)
      << "extensions match by exact revision";
  EXPECT_EQ(host->get_extension(host, text("etbk.unheard_of"), 1), nullptr);
}

#ifndef ETBK_HOST_NO_THREADS
TEST_F(AdapterTest, ABackendWithoutConcurrencyIsCalledByOneThreadAtATime) {
  static auto* const shy = new ScriptedBackend("ShyBackend", ETBK_CONCURRENCY_NONE);
  ASSERT_NE(add(*shy), Registration::kRuntimeError);
  std::atomic<int> inside{0};
  std::atomic<bool> overlapped{false};
  shy->on_execute = [&](const EtbkHostApi*, const EtbkExecution*) {
    overlapped = overlapped || ++inside != 1;
    std::this_thread::yield();
    --inside;
    return ETBK_STATUS_OK;
  };
  const auto run = [&] {
    Arguments arguments;
    arguments.tensor({1});
    Delegate delegate(*shy);
    for (int i = 0; i < 500; ++i) {
      ASSERT_EQ(delegate.execute(arguments), Error::Ok);
    }
  };
  std::thread other(run);
  run();
  other.join();
  EXPECT_FALSE(overlapped);
}

TEST_F(AdapterTest, HandlesRunAtTheSameTimeAndErrorsStayWithTheirThread) {
  const auto run = [](const char* word) {
    static auto* const backends = new std::map<std::string, ScriptedBackend*>{
        {"red", new ScriptedBackend("RedBackend")}, {"blue", new ScriptedBackend("BlueBackend")}};
    ScriptedBackend& own = *backends->at(word);
    unsigned ignored = 0;
    static std::mutex registration;
    {
      const std::lock_guard<std::mutex> lock(registration);
      adapter::register_backend(own.table(), &ignored);
    }
    own.on_execute = [word](const EtbkHostApi* host, const EtbkExecution*) {
      host->set_error(host, text(word));
      return ETBK_STATUS_INTERNAL;
    };
    Arguments arguments;
    arguments.tensor({1});
    Delegate delegate(own);
    for (int i = 0; i < 200; ++i) {
      ASSERT_EQ(delegate.execute(arguments), Error::Internal);
      ASSERT_NE(std::string(adapter::last_error()).find(word), std::string::npos);
    }
  };
  std::thread red(run, "red");
  run("blue");
  red.join();
}
#endif

// --- registration --------------------------------------------------------------------------------

TEST_F(AdapterTest, RegistrationIsIdempotentAndRefusesAnotherTableUnderTheId) {
  EXPECT_EQ(add(backend()), Registration::kAlreadyOurs);
  static auto* const twin = new ScriptedBackend("ScriptedBackend");
  EXPECT_EQ(add(*twin), Registration::kDuplicateId);
}

TEST_F(AdapterTest, IncompleteTablesAreRefused) {
  const auto refused = [](auto&& damage) {
    ScriptedBackend broken("BrokenBackend");
    damage(broken.mutable_table());
    const char* reason = nullptr;
    EXPECT_FALSE(adapter::validate(broken.table(), &reason));
    EXPECT_EQ(add(broken), Registration::kInvalid);
    return std::string(reason == nullptr ? "" : reason);
  };
  EXPECT_NE(refused([](EtbkBackendApi& t) { t.info = nullptr; }).find("info"), std::string::npos);
  EXPECT_NE(refused([](EtbkBackendApi& t) { t.execute = nullptr; }).find("execute"),
            std::string::npos);
  EXPECT_NE(refused([](EtbkBackendApi& t) { t.struct_size = 8; }).find("struct_size"),
            std::string::npos);
  for (const char* id : {"", "has space", "9starts", "dash-ed",
                         "sixty_four_characters_are_one_more_than_the_runtime_can_take_____"}) {
    ScriptedBackend bad(id);
    EXPECT_EQ(add(bad), Registration::kInvalid) << id;
  }
  const char* reason = nullptr;
  EXPECT_FALSE(adapter::validate(nullptr, &reason));
}

// The runtime's table cannot be emptied, so this test is the last to register.
TEST_F(AdapterTest, ZTheSeventeenthBackendIsRefused) {
  static auto* const fillers = new std::deque<ScriptedBackend>;  // the runtime keeps them
  Registration last = Registration::kRegistered;
  for (int i = 0; i < 17 && last == Registration::kRegistered; ++i) {
    last = add(fillers->emplace_back("Filler" + std::to_string(i)));
  }
  EXPECT_EQ(last, Registration::kTableFull);
  EXPECT_EQ(adapter::registered_count(), 16u);
}

EtbkStatus ETBK_CALL refusing_entry(const EtbkHostApi*, EtbkPluginApi*) {
  return ETBK_STATUS_HOST_TOO_OLD;
}

TEST_F(AdapterTest, StaticTablesCountWhatTheyRefuse) {
  const EtbkStaticPlugin table[] = {{"refusing", refusing_entry}, {nullptr, nullptr}};
  EXPECT_EQ(etbk_host_register_static(table), 1);
}

}  // namespace
}  // namespace etbk::test
