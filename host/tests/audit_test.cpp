// Two registries in one process are found, and named.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <executorch_backend_kit/host.hpp>

#include "audit.hpp"
#include "fake_adapter.hpp"
#include "temporary_folder.hpp"

namespace etbk::host {
namespace {

using test::plugin;

TEST(Audit, OneRegistryIsNoFinding) {
  fake::fill(2);
  load_plugin(plugin("fake_good"));
  EXPECT_TRUE(audit(registered_backends()).empty());
  EXPECT_TRUE(audit().empty());
}

TEST(Audit, TheApplicationDoesNotSeeOurBackend) {
  fake::fill(2);
  load_plugin(plugin("fake_good"));
  const std::vector<Finding> findings = audit({"Builtin0", "Builtin1"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "REGISTRY-PRIVATE");
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_NE(findings[0].message.find("does not see FakeGood"), std::string::npos);
  EXPECT_NE(findings[0].message.find("two copies of ExecuTorch"), std::string::npos);
  EXPECT_NE(findings[0].evidence.find("host_registry=" + runtime_library()), std::string::npos);
  EXPECT_NE(findings[0].fix, "");
}

TEST(Audit, WeDoNotSeeTheApplicationsBackend) {
  const std::vector<Finding> findings = audit({"Builtin0"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "REGISTRY-PRIVATE");
  EXPECT_NE(findings[0].evidence.find("only_application=Builtin0"), std::string::npos);
}

// A library with its own copy of the registry: it registers, gets a success, and is not seen.
TEST(Audit, ALibraryWithItsOwnRuntimeIsNamed) {
  load_plugin(plugin("fake_good"));
  ASSERT_TRUE(audit().empty());
  void* const library = ::dlopen(plugin("own_runtime").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  const auto status = reinterpret_cast<unsigned (*)()>(::dlsym(library, "own_runtime_status"));
  EXPECT_EQ(status(), 0u);  // "registered"
  const std::vector<std::string> names = registered_backends();
  EXPECT_EQ(names, std::vector<std::string>{"FakeGood"});  // and yet not there

  const std::vector<Finding> findings = audit(names);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].code, "REGISTRY-SECOND-RUNTIME");
  EXPECT_NE(findings[0].message.find(plugin("own_runtime")), std::string::npos);
  EXPECT_NE(findings[0].message.find(runtime_library()), std::string::npos);
  EXPECT_EQ(modules_with_own_runtime(), std::vector<std::string>{plugin("own_runtime")});
}

TEST(Audit, TheOwnerIsThisProgram) {
  EXPECT_EQ(runtime_library(), test::fs::read_symlink("/proc/self/exe").string());
}

}  // namespace
}  // namespace etbk::host
