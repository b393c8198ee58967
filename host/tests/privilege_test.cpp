// What a privileged process must not follow.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "discovery.hpp"
#include "temporary_folder.hpp"

namespace etbk::host {
namespace {

using test::TemporaryFolder;

const HostAbi kHost{0, 9, 9, "ExecuTorch 1.5.1"};

TEST(Privilege, FilesOthersCanWriteAreRefused) {
  TemporaryFolder folder;  // below a folder that everybody can write
  const std::string copy = folder.path("libcopy.so");
  test::fs::copy_file(test::plugin("fake_good"), copy);
  EXPECT_EQ(judge_path(copy, Origin::kExplicit, false, kHost).plugin.outcome, Outcome::kCandidate);
  const Candidate judged = judge_path(copy, Origin::kExplicit, true, kHost);
  EXPECT_EQ(judged.plugin.outcome, Outcome::kRefused);
  ASSERT_FALSE(judged.plugin.findings.empty());
  EXPECT_EQ(judged.plugin.findings[0].code, "PLUGIN-UNTRUSTED-PATH");
}

TEST(Privilege, SystemFilesAreTrusted) {
  EXPECT_EQ(why_untrusted("/"), "");
  EXPECT_EQ(why_untrusted(resolved_path("/usr/bin/env")), "");
  EXPECT_NE(why_untrusted("/tmp"), "");
}

TEST(Privilege, TheFileThatIsCheckedIsTheFileThatIsLoaded) {
  TemporaryFolder folder;
  const std::string link = folder.path("env.so");
  test::fs::create_symlink("/usr/bin/env", link);
  const Candidate judged = judge_path(link, Origin::kExplicit, true, kHost);
  EXPECT_EQ(judged.plugin.path, resolved_path("/usr/bin/env"));
}

// A program with the set-group-id bit sees no variable. Needs to be root, and a file system that
// honours the bit.
TEST(Privilege, VariablesAreIgnored) {
  TemporaryFolder folder;
  struct statvfs mount;
  ASSERT_EQ(::statvfs(folder.path().c_str(), &mount), 0);
  if (::geteuid() != 0 || (mount.f_flag & ST_NOSUID) != 0) {
    GTEST_SKIP() << "a program of another group can only be made by root, on a file system that "
                    "honours the set-group-id bit";
  }
  const std::string copy = folder.path("print_surroundings");
  test::fs::copy_file(ETBK_TEST_PRINT_SURROUNDINGS, copy);
  ASSERT_EQ(::chown(copy.c_str(), 0, 12345), 0);
  ASSERT_EQ(::chmod(copy.c_str(), 02755), 0);
  const std::string output = folder.path("output");
  const std::string command =
      "ETBK_PLUGINS=/x ETBK_ADD_PLUGINS=/x ETBK_SELECT=x ETBK_DISABLE=x ETBK_LOG=debug "
      "XDG_DATA_HOME=/data " +
      copy + " >" + output;
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::string text = test::read_file(output);
  EXPECT_EQ(text.rfind("privileged=1 log=0 variables=[]\n", 0), 0u) << text;
  EXPECT_EQ(text.find("/data"), std::string::npos) << text;
}

TEST(Privilege, VariablesAreReadOtherwise) {
  ::setenv("ETBK_PLUGINS", "/a:/b", 1);
  ::setenv("ETBK_LOG", "debug", 1);
  ::setenv("XDG_DATA_HOME", "/data", 1);
  const Surroundings here = Surroundings::of_this_process();
  EXPECT_FALSE(here.privileged);
  EXPECT_EQ(here.plugins, "/a:/b");
  EXPECT_TRUE(here.log);
  ASSERT_EQ(here.standard_directories.size(), 5u);
  EXPECT_EQ(here.standard_directories[2], "/data/executorch-backend-kit/plugins");
  EXPECT_EQ(here.standard_directories[3], "/usr/local/lib/executorch_backends");
  EXPECT_EQ(here.standard_directories[4], "/usr/lib/executorch_backends");
}

TEST(Privilege, RelativeDataHomeIsIgnored) {
  ::setenv("XDG_DATA_HOME", "data", 1);
  ::setenv("HOME", "/home/somebody", 1);
  const Surroundings here = Surroundings::of_this_process();
  EXPECT_EQ(here.standard_directories[2],
            "/home/somebody/.local/share/executorch-backend-kit/plugins");
}

}  // namespace
}  // namespace etbk::host
