// The tool etbk-note, as a program.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "manifest_reader.hpp"
#include "temporary_folder.hpp"

namespace etbk::host {
namespace {

using nlohmann::json;
using test::plugin;
using test::read_file;
using test::TemporaryFolder;

struct Answer {
  int status;
  std::string text;  // both streams
};

Answer run(const std::string& arguments) {
  FILE* const pipe =
      ::popen((std::string(ETBK_TEST_NOTE_TOOL) + " " + arguments + " 2>&1").c_str(), "r");
  Answer answer{-1, ""};
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) {
    answer.text.append(buffer, got);
  }
  const int status = ::pclose(pipe);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

TEST(EtbkNote, ShowsTheNote) {
  const Answer answer = run(plugin("fake_pair"));
  EXPECT_EQ(answer.status, 0);
  EXPECT_NE(answer.text.find("name      fake_pair\n"), std::string::npos) << answer.text;
  EXPECT_NE(answer.text.find("backends  FakePairOne FakePairTwo\n"), std::string::npos);
  EXPECT_NE(answer.text.find("ABI       0.9, needs 0.9 of the host\n"), std::string::npos);
}

TEST(EtbkNote, ShowsItAsJson) {
  const Answer answer = run("--json " + plugin("fake_too_new"));
  EXPECT_EQ(answer.status, 0);  // it tells; it does not judge
  const json document = json::parse(answer.text, nullptr, false);
  ASSERT_TRUE(document.is_object()) << answer.text;
  EXPECT_EQ(document["schema"], "etbk.note/1");
  EXPECT_EQ(document["name"], "fake_too_new");
  EXPECT_EQ(document["abi"], (json{{"major", 0}, {"minor", 12}, {"minor_needed", 11}}));
}

TEST(EtbkNote, WritesTheManifestBesideTheLibrary) {
  TemporaryFolder folder;
  test::fs::copy_file(plugin("fake_good"), folder.path("libacme.so"));
  EXPECT_EQ(run("--manifest " + folder.path("libacme.so")).status, 0);
  Manifest manifest;
  EXPECT_EQ(parse_manifest(read_file(folder.path("libacme.json")), &manifest), "");
  EXPECT_EQ(manifest.library, "libacme.so");
  EXPECT_EQ(manifest.identity.name, "fake_good");
  const auto mode = test::fs::status(folder.path("libacme.json")).permissions();
  EXPECT_NE(mode & test::fs::perms::others_read, test::fs::perms::none);
  EXPECT_EQ(std::distance(test::fs::directory_iterator(folder.path()), {}), 2);
}

TEST(EtbkNote, WritesTheManifestElsewhere) {
  TemporaryFolder folder;
  folder.write("share/x", "");
  folder.write("lib/x", "");
  test::fs::copy_file(plugin("fake_good"), folder.path("lib/libacme.so"));
  const std::string command =
      "--manifest " + folder.path("lib/libacme.so") + " -o " + folder.path("share/acme.json");
  Manifest manifest;
  EXPECT_EQ(run(command).status, 0);
  EXPECT_EQ(parse_manifest(read_file(folder.path("share/acme.json")), &manifest), "");
  EXPECT_EQ(manifest.library, "../lib/libacme.so");
  EXPECT_EQ(run(command + " --library libacme.so").status, 0);
  EXPECT_EQ(parse_manifest(read_file(folder.path("share/acme.json")), &manifest), "");
  EXPECT_EQ(manifest.library, "libacme.so");
}

TEST(EtbkNote, AGoodManifestSurvivesAFailure) {
  TemporaryFolder folder;
  const std::string out = folder.write("acme.json", "precious");
  EXPECT_EQ(run("--manifest " + plugin("fake_no_note") + " -o " + out).status, 1);
  EXPECT_EQ(
      run("--manifest " + plugin("fake_good") + " -o " + out + " --library /absolute.so").status,
      1);
  EXPECT_EQ(
      run("--manifest " + plugin("fake_good") + " -o " + folder.path("no/such/acme.json")).status,
      1);
  EXPECT_EQ(run("--manifest " + plugin("fake_good") + " -o /dev/full").status, 1);
  EXPECT_EQ(read_file(out), "precious");
  EXPECT_EQ(std::distance(test::fs::directory_iterator(folder.path()), {}), 1);
}

TEST(EtbkNote, RefusalsHaveCodeSentenceAndCure) {
  const Answer answer = run(plugin("fake_no_note"));
  EXPECT_EQ(answer.status, 1);
  EXPECT_NE(answer.text.find("error [PLUGIN-NOTE-MISSING]: The library"), std::string::npos);
  EXPECT_NE(answer.text.find("\n  fix: "), std::string::npos);
  const json document = json::parse(run("--json /nowhere.so").text, nullptr, false);
  EXPECT_EQ(document["findings"][0]["code"], "PLUGIN-FILE-MISSING");
}

TEST(EtbkNote, CommandLine) {
  EXPECT_EQ(run("--help").status, 0);
  for (const char* bad : {"", "a b", "--what a", "-o", "--library x a", "-o x a"}) {
    const Answer answer = run(bad);
    EXPECT_EQ(answer.status, 2) << bad;
    EXPECT_EQ(answer.text.rfind("error: ", 0), 0u) << bad;
  }
}

}  // namespace
}  // namespace etbk::host
