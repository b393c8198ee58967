// The example in sdk/examples/minimal_backend.cpp, linked statically and driven through its table.
// Licence: BSD-3-Clause.
#include <gtest/gtest.h>

#include "fake_host.hpp"

extern "C" EtbkStatus ETBK_CALL etbk_plugin_entry_minimal(const EtbkHostApi*, EtbkPluginApi*);

namespace {

const EtbkBackendApi* backend(FakeHost& host) {
  EtbkPluginApi plugin{};
  plugin.struct_size = sizeof(plugin);
  EXPECT_TRUE(etbk_plugin_entry_minimal(&host.api, &plugin) == ETBK_STATUS_OK);
  EXPECT_TRUE(plugin.backend_count == 1);
  return plugin.backends[0];
}

EtbkStatus init(FakeHost& host, const char* blob, void** handle) {
  EtbkInit init{};
  init.struct_size = sizeof(init);
  init.blob = {blob, std::strlen(blob)};
  return backend(host)->init(&host.api, backend(host), &init, handle);
}

}  // namespace

TEST(MinimalBackend, Adds) {
  FakeHost host;
  void* handle = nullptr;
  EXPECT_TRUE(init(host, "ADD1", &handle) == ETBK_STATUS_OK);
  FakeExecution run(3, {2, 3});
  run.memory[0].assign(6, 2.0f);
  run.memory[1].assign(6, 0.5f);
  EXPECT_TRUE(backend(host)->execute(&host.api, &run.abi, handle) == ETBK_STATUS_OK);
  EXPECT_TRUE(run.memory[2] == std::vector<float>(6, 2.5f));
  EXPECT_TRUE(host.resizes == std::vector<std::vector<int32_t>>{run.sizes});
  run.abi.changed = 0;
  run.memory[0].assign(6, 3.0f);
  EXPECT_TRUE(backend(host)->execute(&host.api, &run.abi, handle) == ETBK_STATUS_OK);
  EXPECT_TRUE(run.memory[2] == std::vector<float>(6, 3.5f));
  EXPECT_TRUE(host.resizes.size() == 1);
  backend(host)->destroy(&host.api, handle);
}

TEST(MinimalBackend, RefusesAStrangeBlob) {
  FakeHost host;
  void* handle = nullptr;
  EXPECT_TRUE(init(host, "OTHER", &handle) == ETBK_STATUS_INCOMPATIBLE_BLOB);
  EXPECT_TRUE(handle == nullptr);
  EXPECT_TRUE(host.error == "the blob is not one of MinimalBackend's: export the model again");
}

TEST(MinimalBackend, RefusesOtherArguments) {
  FakeHost host;
  void* handle = nullptr;
  EXPECT_TRUE(init(host, "ADD1", &handle) == ETBK_STATUS_OK);
  FakeExecution two(2, {4});
  EXPECT_TRUE(backend(host)->execute(&host.api, &two.abi, handle) == ETBK_STATUS_INVALID_ARGUMENT);
  EXPECT_TRUE(host.error == "the delegate got 2 arguments and was compiled for 3");
  FakeExecution run(3, {4});
  run.descriptors[1].dtype = ETBK_DTYPE_INT32;
  EXPECT_TRUE(backend(host)->execute(&host.api, &run.abi, handle) == ETBK_STATUS_INVALID_ARGUMENT);
  EXPECT_TRUE(host.error == "argument differs from what was compiled");
  backend(host)->destroy(&host.api, handle);
}

TEST(MinimalBackend, SaysWhoItIs) {
  FakeHost host;
  const EtbkBackendInfo& info = *backend(host)->info;
  EXPECT_TRUE(std::string(info.id.data, info.id.size) == "MinimalBackend");
  EXPECT_TRUE(std::string(info.version.data, info.version.size) == "1.0.0");
  EXPECT_TRUE(info.capabilities == ETBK_CAPABILITY_DYNAMIC_SHAPES);
}
