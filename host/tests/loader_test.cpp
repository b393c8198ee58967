// Loading: what registers, what is refused, and that nothing happens twice.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <executorch_backend_kit/host.hpp>

#include "fake_adapter.hpp"
#include "temporary_folder.hpp"

namespace etbk::host {
namespace {

using test::plugin;
using test::TemporaryFolder;

ETBK_STATIC_PLUGINS(fake_static);

std::string code(const Plugin& loaded) {
  return loaded.findings.size() == 1 ? loaded.findings[0].code
                                     : std::to_string(loaded.findings.size()) + " findings";
}

std::string message(const Plugin& loaded) {
  return loaded.findings.empty() ? "" : loaded.findings[0].message;
}

// The plugin is refused with this one code, nothing of it is registered, and there is a cure.
void expect_refused(const Plugin& loaded, const std::string& expected) {
  EXPECT_EQ(loaded.outcome, Outcome::kRefused);
  EXPECT_EQ(code(loaded), expected) << message(loaded);
  ASSERT_FALSE(loaded.findings.empty());
  EXPECT_NE(loaded.findings[0].message, "");
  EXPECT_NE(loaded.findings[0].evidence, "");
  EXPECT_NE(loaded.findings[0].fix, "");
  const std::vector<std::string> names = registered_backends();
  for (const std::string& id : loaded.backends) {
    EXPECT_EQ(std::count(names.begin(), names.end(), id), 0) << id;
  }
}

bool says(const Plugin& loaded, const std::string& text) {
  return message(loaded).find(text) != std::string::npos;
}

TEST(Loader, Registers) {
  const Plugin loaded = load_plugin(plugin("fake_good"));
  EXPECT_EQ(loaded.outcome, Outcome::kRegistered);
  EXPECT_TRUE(loaded.findings.empty());
  EXPECT_EQ(loaded.name, "fake_good");
  EXPECT_EQ(loaded.vendor, "Fake Works");
  EXPECT_EQ(loaded.path, plugin("fake_good"));
  ASSERT_EQ(loaded.blob_formats.size(), 1u);
  EXPECT_EQ(loaded.blob_formats[0].id, "FakeGood");
  EXPECT_EQ(loaded.blob_formats[0].oldest, 2u);
  EXPECT_EQ(loaded.blob_formats[0].newest, 5u);
  EXPECT_FALSE(loaded.blob_formats[0].judges);
  EXPECT_EQ(load_plugin(plugin("fake_good")).blob_formats.size(), 1u) << "also when asked again";
  EXPECT_EQ(registered_backends(), std::vector<std::string>{"FakeGood"});
  ASSERT_EQ(plugins().size(), 1u);
  EXPECT_EQ(plugins()[0].outcome, Outcome::kRegistered);
}

TEST(Loader, SeveralBackendsInOneLibrary) {
  const Plugin loaded = load_plugin(plugin("fake_pair"));
  EXPECT_EQ(loaded.outcome, Outcome::kRegistered);
  EXPECT_EQ(registered_backends(), (std::vector<std::string>{"FakePairOne", "FakePairTwo"}));
}

TEST(Loader, IdempotentByAnyPath) {
  TemporaryFolder folder;
  ::setenv("FAKE_COUNT_ENTRIES", "1", 1);
  const std::string link = folder.path("link.so");
  const std::string hard = folder.path("hard.so");
  test::fs::create_symlink(plugin("fake_good"), link);
  test::fs::current_path(test::fs::path(plugin("fake_good")).parent_path());
  std::vector<std::string> paths = {plugin("fake_good"), link, "libfake_good.so",
                                    "./../plugins/libfake_good.so"};
  std::error_code no_hard_link;
  test::fs::create_hard_link(plugin("fake_good"), hard, no_hard_link);
  if (!no_hard_link) {
    paths.push_back(hard);
  }
  EXPECT_EQ(load_plugin(plugin("fake_good")).outcome, Outcome::kRegistered);
  for (const std::string& path : paths) {
    const Plugin again = load_plugin(path);
    EXPECT_EQ(again.outcome, Outcome::kAlreadyRegistered) << path;
    EXPECT_EQ(again.name, "fake_good");
    EXPECT_EQ(again.backends, std::vector<std::string>{"FakeGood"});
    EXPECT_TRUE(again.findings.empty());
  }
  EXPECT_EQ(registered_backends().size(), 1u);
  ASSERT_EQ(plugins().size(), 1u);
  EXPECT_EQ(plugins()[0].outcome, Outcome::kRegistered);
}

TEST(Loader, ACopyIsNamedAndLeftAlone) {
  TemporaryFolder folder;
  const std::string copy = folder.path("copy.so");
  test::fs::copy_file(plugin("fake_good"), copy);
  load_plugin(plugin("fake_good"));
  const Plugin second = load_plugin(copy);
  EXPECT_EQ(second.outcome, Outcome::kRefused);
  EXPECT_EQ(code(second), "BACKEND-DUPLICATE-ID");
  EXPECT_EQ(second.findings[0].severity, Severity::kWarning);
  EXPECT_TRUE(says(second, plugin("fake_good"))) << message(second);
  EXPECT_EQ(::dlopen(copy.c_str(), RTLD_NOLOAD | RTLD_NOW), nullptr);  // nothing of it ran
}

TEST(Loader, DuplicateIdSaysWhoHoldsIt) {
  load_plugin(plugin("fake_good"));
  const Plugin twin = load_plugin(plugin("fake_twin"));
  EXPECT_EQ(twin.outcome, Outcome::kRefused);
  EXPECT_EQ(code(twin), "BACKEND-DUPLICATE-ID");
  EXPECT_EQ(twin.findings[0].severity, Severity::kError);
  EXPECT_TRUE(says(twin, "the plugin 'fake_good' 1.2.0 (" + plugin("fake_good") + ")"))
      << message(twin);
  // All or nothing: the other backend of such a plugin is not registered either.
  EXPECT_EQ(load_plugin(plugin("fake_half_twin")).outcome, Outcome::kRefused);
  EXPECT_EQ(registered_backends(), std::vector<std::string>{"FakeGood"});
}

TEST(Loader, DuplicateOfABuiltInBackend) {
  fake::runtime().names.push_back("FakeGood");
  fake::runtime().backends.push_back(nullptr);
  const Plugin loaded = load_plugin(plugin("fake_good"));
  EXPECT_EQ(loaded.outcome, Outcome::kRefused);
  EXPECT_EQ(code(loaded), "BACKEND-DUPLICATE-ID");
  EXPECT_TRUE(says(loaded, "a backend that ExecuTorch or the program registered itself"));
}

TEST(Loader, SeventeenthBackend) {
  fake::fill(16);
  const Plugin loaded = load_plugin(plugin("fake_good"));
  expect_refused(loaded, "REGISTRY-FULL");
  EXPECT_TRUE(says(loaded, "it holds 16")) << message(loaded);
  EXPECT_NE(loaded.findings[0].evidence.find("Builtin0, Builtin1, Builtin2"), std::string::npos);
  EXPECT_NE(loaded.findings[0].evidence.find("Builtin15"), std::string::npos);
}

TEST(Loader, SixteenthAndSeventeenthOfOnePlugin) {
  fake::fill(15);
  const Plugin loaded = load_plugin(plugin("fake_pair"));
  EXPECT_EQ(loaded.outcome, Outcome::kRegistered);
  EXPECT_EQ(code(loaded), "REGISTRY-FULL");
  EXPECT_EQ(registered_backends().back(), "FakePairOne");
}

TEST(Loader, RuntimeThatForgets) {
  fake::runtime().forgets = true;
  expect_refused(load_plugin(plugin("fake_good")), "REGISTRY-PRIVATE");
}

TEST(Loader, RuntimeThatRefuses) {
  fake::runtime().refuses_with = 0x21;
  const Plugin loaded = load_plugin(plugin("fake_good"));
  expect_refused(loaded, "BACKEND-REJECTED");
  EXPECT_TRUE(says(loaded, "error 33, memory allocation failed")) << message(loaded);
}

TEST(Loader, FilesThatAreNoPlugins) {
  TemporaryFolder folder;
  expect_refused(load_plugin(folder.path("gone.so")), "PLUGIN-FILE-MISSING");
  expect_refused(load_plugin(folder.write("text.so", "hello")), "PLUGIN-NOT-A-LIBRARY");
  expect_refused(load_plugin(folder.path()), "PLUGIN-NOT-A-LIBRARY");
  expect_refused(load_plugin(plugin("fake_no_note")), "PLUGIN-NOTE-MISSING");
  const std::string whole = test::read_file(plugin("fake_good"));
  expect_refused(load_plugin(folder.write("half.so", whole.substr(0, whole.size() / 2))),
                 "PLUGIN-DAMAGED");
  EXPECT_EQ(plugins().size(), 5u);
}

TEST(Loader, TruncatedLibrariesAreNeverLoaded) {
  TemporaryFolder folder;
  const std::string whole = test::read_file(plugin("fake_good"));
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 37) {
    const std::string path = folder.write("cut.so", whole.substr(0, size));
    EXPECT_EQ(load_plugin(path).outcome, Outcome::kRefused) << size;
  }
  EXPECT_TRUE(registered_backends().empty());
}

TEST(Loader, AbiInBothDirections) {
  const Plugin newer = load_plugin(plugin("fake_too_new"));
  expect_refused(newer, "PLUGIN-ABI-TOO-NEW");
  EXPECT_TRUE(says(newer, "needs plugin ABI 0.11 or newer")) << message(newer);
  EXPECT_TRUE(says(newer, "speaks 0.9")) << message(newer);
  const Plugin older = load_plugin(plugin("fake_too_old"));
  expect_refused(older, "PLUGIN-ABI-TOO-OLD");
  EXPECT_TRUE(says(older, "built for plugin ABI 0.8")) << message(older);
  expect_refused(load_plugin(plugin("fake_next_major")), "PLUGIN-ABI-TOO-NEW");
  EXPECT_EQ(::dlopen(plugin("fake_too_new").c_str(), RTLD_NOLOAD | RTLD_NOW), nullptr);
}

TEST(Loader, AnOldPluginUnderAHostOfTheNextMajor) {
  fake::host_api().abi_major = 1;
  fake::host_api().abi_minor = 0;
  const Plugin loaded = load_plugin(plugin("fake_good"));
  expect_refused(loaded, "PLUGIN-ABI-TOO-OLD");
  EXPECT_TRUE(says(loaded, "accepts 1.0 to 1.0")) << message(loaded);
}

TEST(Loader, AnOldPluginUnderANewerMinor) {
  fake::host_api().abi_minor = 40;
  EXPECT_EQ(load_plugin(plugin("fake_good")).outcome, Outcome::kRegistered);
}

TEST(Loader, TheDynamicLoaderRefuses) {
  const Plugin undefined = load_plugin(plugin("fake_undefined"));
  expect_refused(undefined, "PLUGIN-LOAD-FAILED");
  EXPECT_TRUE(says(undefined, "etbk_nobody_defines_this")) << message(undefined);
  const Plugin lonely = load_plugin(plugin("fake_lonely"));
  expect_refused(lonely, "PLUGIN-LOAD-FAILED");
  EXPECT_TRUE(says(lonely, "libfake_gone.so")) << message(lonely);
  EXPECT_NE(lonely.findings[0].fix.find("LD_LIBRARY_PATH"), std::string::npos);
}

TEST(Loader, NoEntry) {
  expect_refused(load_plugin(plugin("fake_no_entry")), "PLUGIN-ENTRY-MISSING");
  const Plugin borrowed = load_plugin(plugin("fake_borrowed_entry"));
  expect_refused(borrowed, "PLUGIN-ENTRY-MISSING");
  EXPECT_TRUE(says(borrowed, "libfake_entry_library.so")) << message(borrowed);
}

TEST(Loader, EntryThatThrows) {
  const Plugin standard = load_plugin(plugin("fake_throwing"));
  expect_refused(standard, "PLUGIN-ENTRY-FAILED");
  EXPECT_TRUE(says(standard, "the driver is on holiday")) << message(standard);
}

TEST(Loader, EntryThatThrowsAnything) {
  ::setenv("FAKE_FAULT", "throws a number", 1);
  const Plugin number = load_plugin(plugin("fake_throwing"));
  expect_refused(number, "PLUGIN-ENTRY-FAILED");
  EXPECT_TRUE(says(number, "not a std::exception")) << message(number);
}

TEST(Loader, NoteAndEntryDisagree) {
  const Plugin liar = load_plugin(plugin("fake_liar"));
  expect_refused(liar, "PLUGIN-NOTE-DISAGREES");
  EXPECT_TRUE(says(liar, "backends: FakeHonest / FakeLiar")) << message(liar);
  const Plugin vague = load_plugin(plugin("fake_vague"));
  EXPECT_EQ(vague.outcome, Outcome::kRegistered);
  EXPECT_EQ(code(vague), "PLUGIN-NOTE-DISAGREES");
  EXPECT_EQ(vague.findings[0].severity, Severity::kWarning);
}

TEST(Loader, EveryBackendTellsTheVersionOfTheNote) {
  ::setenv("FAKE_FAULT", "mixed versions", 1);
  const Plugin mixed = load_plugin(plugin("fake_pair"));
  EXPECT_EQ(mixed.outcome, Outcome::kRegistered);
  EXPECT_EQ(code(mixed), "PLUGIN-NOTE-DISAGREES");
  EXPECT_TRUE(says(mixed, "version: 1.2.0 / 1.2.0 / 1.3.0")) << message(mixed);
}

TEST(Loader, AFailureIsNotRepeatedByCallingAgain) {
  ::setenv("FAKE_FAULT", "fails", 1);
  ::setenv("FAKE_COUNT_ENTRIES", "1", 1);
  expect_refused(load_plugin(plugin("fake_good")), "PLUGIN-ENTRY-FAILED");
  expect_refused(load_plugin(plugin("fake_good")), "PLUGIN-ENTRY-FAILED");
  EXPECT_EQ(plugins().size(), 1u);
}

// A constructor runs inside dlopen, before anything can be checked: such a plugin takes the process
// with it. This is what the documentation says, and why the tools probe in a child process.
TEST(LoaderDeathTest, ACrashingConstructorTakesTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(load_plugin(plugin("fake_crashing")), "");
}

struct Nonsense {
  const char* fault;
  const char* code;
  const char* says;
};

class EntryNonsense : public ::testing::TestWithParam<Nonsense> {};

TEST_P(EntryNonsense, IsAFinding) {
  ::setenv("FAKE_FAULT", GetParam().fault, 1);
  const Plugin loaded = load_plugin(plugin("fake_good"));
  expect_refused(loaded, GetParam().code);
  EXPECT_TRUE(says(loaded, GetParam().says)) << message(loaded);
}

INSTANTIATE_TEST_SUITE_P(
    Loader, EntryNonsense,
    ::testing::Values(
        Nonsense{"fails", "PLUGIN-ENTRY-FAILED", "internal error"},
        Nonsense{"fails with a text", "PLUGIN-ENTRY-FAILED", "the firmware is too old"},
        Nonsense{"unknown status", "PLUGIN-ENTRY-FAILED", "a status this host does not know"},
        Nonsense{"host too old", "PLUGIN-ABI-TOO-NEW", "needs plugin ABI 0.12"},
        Nonsense{"host too new", "PLUGIN-ABI-TOO-OLD", "built for plugin ABI 0.5"},
        Nonsense{"quietly newer", "PLUGIN-ABI-TOO-NEW", "needs plugin ABI 0.12"},
        Nonsense{"nothing", "PLUGIN-ABI-TOO-OLD", "built for plugin ABI 0.0"},
        Nonsense{"null backends", "PLUGIN-ENTRY-INVALID", "the list of backends is null"},
        Nonsense{"no backends", "PLUGIN-ENTRY-INVALID", "the number of backends is 0"},
        Nonsense{"too many backends", "PLUGIN-ENTRY-INVALID", "the number of backends is 65"},
        Nonsense{"struct size", "PLUGIN-ENTRY-INVALID", "it changed struct_size"},
        Nonsense{"writes behind", "PLUGIN-ENTRY-INVALID", "it wrote behind the struct"},
        Nonsense{"null backend", "PLUGIN-ENTRY-INVALID", "the backend table is null"},
        Nonsense{"small backend", "PLUGIN-ENTRY-INVALID", "struct_size is smaller"},
        Nonsense{"huge backend", "PLUGIN-ENTRY-INVALID", "a struct_size is larger"},
        Nonsense{"null info", "PLUGIN-ENTRY-INVALID", "the backend has no info"},
        Nonsense{"small info", "PLUGIN-ENTRY-INVALID", "struct_size is smaller"},
        Nonsense{"no init", "PLUGIN-ENTRY-INVALID", "one of init, execute and destroy is null"},
        Nonsense{"no execute", "PLUGIN-ENTRY-INVALID", "one of init, execute and destroy is null"},
        Nonsense{"no destroy", "PLUGIN-ENTRY-INVALID", "one of init, execute and destroy is null"},
        Nonsense{"empty id", "PLUGIN-ENTRY-INVALID", "its id is empty"},
        Nonsense{"long id", "PLUGIN-ENTRY-INVALID", "its id has 64 bytes"},
        Nonsense{"odd id", "PLUGIN-ENTRY-INVALID", "its id is not an identifier"},
        Nonsense{"digit id", "PLUGIN-ENTRY-INVALID", "its id begins with a digit"},
        Nonsense{"null vendor", "PLUGIN-ENTRY-INVALID", "its vendor has 9 bytes"},
        Nonsense{"huge version", "PLUGIN-ENTRY-INVALID", "its version has"},
        Nonsense{"null name", "PLUGIN-ENTRY-INVALID", "its name has 4 bytes"}),
    [](const ::testing::TestParamInfo<Nonsense>& nonsense) {
      std::string name = nonsense.param.fault;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(Linked, StaticPluginsAreRegisteredOnce) {
  ::setenv("FAKE_COUNT_ENTRIES", "1", 1);
  const std::vector<Plugin> first = register_static_plugins(etbk_static_plugins);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].outcome, Outcome::kRegistered) << message(first[0]);
  EXPECT_EQ(first[0].name, "fake_static");
  EXPECT_EQ(first[0].version, "1.2.0");
  EXPECT_EQ(first[0].path, "");
  EXPECT_EQ(first[0].origin, Origin::kLinked);
  EXPECT_EQ(first[0].backends, std::vector<std::string>{"FakeStatic"});
  EXPECT_EQ(register_static_plugins(etbk_static_plugins)[0].outcome, Outcome::kAlreadyRegistered);
  EXPECT_EQ(registered_backends(), std::vector<std::string>{"FakeStatic"});
}

TEST(Linked, StaticPluginsAreJudgedToo) {
  ::setenv("FAKE_FAULT", "null info", 1);
  const std::vector<Plugin> first = register_static_plugins(etbk_static_plugins);
  expect_refused(first[0], "PLUGIN-ENTRY-INVALID");
}

TEST(Linked, LibraryOfTheLinkLine) {
  const Plugin first = register_linked_library("libfake_linked.so");
  EXPECT_EQ(first.outcome, Outcome::kRegistered) << message(first);
  EXPECT_EQ(first.origin, Origin::kLinked);
  EXPECT_EQ(register_linked_library("libfake_linked.so").outcome, Outcome::kAlreadyRegistered);
  EXPECT_EQ(load_plugin(plugin("fake_linked")).outcome, Outcome::kAlreadyRegistered);
  EXPECT_EQ(registered_backends(), std::vector<std::string>{"FakeLinked"});
}

TEST(Linked, LibraryThatTheLinkerDropped) {
  const Plugin dropped = register_linked_library("libfake_other.so");
  EXPECT_EQ(dropped.outcome, Outcome::kRefused);
  EXPECT_EQ(code(dropped), "PLUGIN-NOT-LINKED");
  EXPECT_NE(dropped.findings[0].fix, "");
}

TEST(LoadPlugins, OneBadPluginHarmsNoOther) {
  TemporaryFolder folder;
  ::setenv("ETBK_LOG", "debug", 1);
  DiscoveryOptions options;
  options.standard_directories = false;
  options.libraries = {folder.write("bad.so", "x"), plugin("fake_too_new"), plugin("fake_good"),
                       plugin("fake_throwing"),     plugin("fake_other"),   plugin("fake_good")};
  ::testing::internal::CaptureStderr();
  const std::vector<Plugin> loaded = load_plugins(options);
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_EQ(loaded.size(), 6u);
  EXPECT_EQ(loaded[0].outcome, Outcome::kRefused);
  EXPECT_EQ(loaded[1].outcome, Outcome::kRefused);
  EXPECT_EQ(loaded[2].outcome, Outcome::kRegistered);
  EXPECT_EQ(loaded[3].outcome, Outcome::kRefused);
  EXPECT_EQ(loaded[4].outcome, Outcome::kRegistered);
  EXPECT_EQ(loaded[5].outcome, Outcome::kAlreadyRegistered);
  EXPECT_EQ(registered_backends(), (std::vector<std::string>{"FakeGood", "FakeOther"}));
  EXPECT_EQ(plugins().size(), 5u);
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 6) << log;
  EXPECT_NE(log.find("etbk: registered: fake_good " + plugin("fake_good") + " FakeGood\n"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("[PLUGIN-NOT-A-LIBRARY]"), std::string::npos);
}

TEST(LoadPlugins, VariablesChoose) {
  ::setenv("ETBK_PLUGINS", (plugin("fake_good") + ":" + plugin("fake_other")).c_str(), 1);
  ::setenv("ETBK_DISABLE", "FakeO*", 1);
  const std::vector<Plugin> loaded = load_plugins();
  ASSERT_GE(loaded.size(), 2u);
  EXPECT_EQ(loaded[0].outcome, Outcome::kRegistered);
  EXPECT_EQ(loaded[1].outcome, Outcome::kDisabled);
  EXPECT_EQ(code(loaded[1]), "PLUGIN-DISABLED");
  EXPECT_EQ(registered_backends(), std::vector<std::string>{"FakeGood"});
  // An application that asks for a plugin by name gets it.
  EXPECT_EQ(load_plugin(plugin("fake_other")).outcome, Outcome::kRegistered);
}

}  // namespace
}  // namespace etbk::host
