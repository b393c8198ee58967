// Places, environment variables and their order. Nothing here loads a library.
#include "discovery.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "elf_builder.hpp"
#include "manifest_reader.hpp"
#include "temporary_folder.hpp"

namespace etbk::host {
namespace {

using test::ElfBuilder;
using test::ElfPlan;
using test::TemporaryFolder;

const HostAbi kHost{0, 9, 9, "ExecuTorch 1.5.1"};

std::string library_bytes(const std::string& name, const std::string& id) {
  ElfPlan plan;
  plan.machine = own_architecture().machine;
  plan.text = "name=" + name + "\nvendor=Tiny\nversion=0.1.0\nid=" + id + "\n";
  return ElfBuilder(plan).build();
}

std::string manifest_text(const std::string& name, const std::string& id) {
  Manifest manifest;
  manifest.identity = {name, "Tiny", "0.1.0", 0, 9, 9, {id}};
  manifest.library = "lib" + name + ".so";
  return write_manifest(manifest);
}

class Discovery : public ::testing::Test {
 protected:
  // Puts a library and its manifest into a folder; returns the manifest.
  std::string install(const std::string& directory, const std::string& name) {
    const std::string id = "Id_" + name;
    folder.write(directory + "/lib" + name + ".so", library_bytes(name, id));
    return folder.write(directory + "/" + name + ".json", manifest_text(name, id));
  }
  std::string library(const std::string& directory, const std::string& name) {
    return folder.path(directory + "/lib" + name + ".so");
  }
  // "name:outcome" of each candidate, in order.
  std::string found() {
    std::string text;
    candidates = find_candidates(options, surroundings, kHost);
    for (const Candidate& candidate : candidates) {
      static const char* const kOutcomes[] = {"candidate", "registered", "already", "refused",
                                              "disabled"};
      text += (text.empty() ? "" : " ") + candidate.plugin.name + ":" +
              kOutcomes[static_cast<int>(candidate.plugin.outcome)];
    }
    return text;
  }
  const Finding& only_finding(std::size_t index) {
    static const Finding none;
    EXPECT_EQ(candidates[index].plugin.findings.size(), 1u);
    return candidates[index].plugin.findings.empty() ? none : candidates[index].plugin.findings[0];
  }

  TemporaryFolder folder;
  DiscoveryOptions options;
  Surroundings surroundings;
  std::vector<Candidate> candidates;
};

TEST_F(Discovery, NothingAnywhere) {
  surroundings.standard_directories = {folder.path("none")};
  EXPECT_EQ(found(), "");
}

TEST_F(Discovery, OrderOfSearch) {
  install("standard", "d");
  install("named", "c");
  install("named", "b");
  install("added", "a");
  install("installed", "e");
  install("explicit", "first");
  surroundings.standard_directories = {folder.path("standard"), folder.path("none")};
  surroundings.add_plugins = folder.path("added");
  options.manifest_directories = {folder.path("named")};
  options.installed = {library("installed", "e")};
  options.libraries = {library("explicit", "first")};
  EXPECT_EQ(found(), "first:candidate a:candidate b:candidate c:candidate d:candidate e:candidate");
  EXPECT_EQ(candidates[0].plugin.origin, Origin::kExplicit);
  EXPECT_EQ(candidates[1].plugin.origin, Origin::kEnvironment);
  EXPECT_EQ(candidates[2].plugin.origin, Origin::kManifest);
  EXPECT_EQ(candidates[5].plugin.origin, Origin::kInstalled);
  EXPECT_EQ(candidates[2].plugin.manifest, folder.path("named/b.json"));
  EXPECT_EQ(candidates[2].plugin.path, library("named", "b"));
  EXPECT_EQ(candidates[0].plugin.manifest, "");
}

TEST_F(Discovery, ReplaceTakesLibrariesManifestsAndFolders) {
  install("standard", "gone");
  install("wheel", "gone_too");
  install("one", "a");
  install("two", "b");
  const std::string manifest = install("three", "c");
  install("explicit", "kept");
  surroundings.standard_directories = {folder.path("standard")};
  options.installed = {library("wheel", "gone_too")};
  options.libraries = {library("explicit", "kept")};
  surroundings.plugins = ":" + library("one", "a") + "::" + folder.path("two") + ":" + manifest;
  EXPECT_EQ(found(), "kept:candidate a:candidate b:candidate c:candidate gone:disabled :disabled");
  EXPECT_EQ(only_finding(4).code, "PLUGIN-DISABLED");
  EXPECT_NE(only_finding(4).message.find("ETBK_PLUGINS replaces"), std::string::npos);
  EXPECT_EQ(only_finding(5).code, "PLUGIN-DISABLED");
}

TEST_F(Discovery, SelectAndDisableByNameOrId) {
  install("d", "acme");
  install("d", "apex");
  install("d", "zeta");
  surroundings.standard_directories = {folder.path("d")};
  surroundings.select = "a*,nothing";
  EXPECT_EQ(found(), "acme:candidate apex:candidate zeta:disabled");
  EXPECT_EQ(only_finding(2).message,
            "The plugin 'zeta' is left out: nothing of it matches ETBK_SELECT=a*,nothing.");
  surroundings.disable = "Id_[a-b]pex";
  EXPECT_EQ(found(), "acme:candidate apex:disabled zeta:disabled");
  EXPECT_EQ(only_finding(1).message,
            "The plugin 'apex' is switched off: the pattern 'Id_[a-b]pex' of ETBK_DISABLE "
            "matches 'Id_apex'.");
  surroundings.disable = "*";
  EXPECT_EQ(found(), "acme:disabled apex:disabled zeta:disabled");
  options.environment = false;
  EXPECT_EQ(found(), "acme:candidate apex:candidate zeta:candidate");
}

TEST_F(Discovery, PatternsReachBareLibrariesToo) {
  install("d", "acme");
  options.libraries = {library("d", "acme")};
  options.standard_directories = false;
  surroundings.disable = "acme";
  EXPECT_EQ(found(), "acme:disabled");
}

TEST_F(Discovery, ASwitchedOffLibraryIsNotRead) {
  folder.write("d/ghost.json", manifest_text("ghost", "Ghost"));
  surroundings.standard_directories = {folder.path("d")};
  EXPECT_EQ(found(), "ghost:refused");
  EXPECT_EQ(only_finding(0).code, "PLUGIN-FILE-MISSING");
  surroundings.disable = "ghost";
  EXPECT_EQ(found(), "ghost:disabled");
}

TEST_F(Discovery, NamedPlacesMustExist) {
  surroundings.add_plugins = folder.path("gone.json") + ":" + folder.path("gone.so");
  options.manifest_directories = {folder.path("gone")};
  EXPECT_EQ(found(), ":refused :refused :refused");
  EXPECT_EQ(only_finding(0).code, "MANIFEST-UNREADABLE");
  EXPECT_EQ(only_finding(1).code, "PLUGIN-FILE-MISSING");
  EXPECT_EQ(only_finding(2).code, "MANIFEST-UNREADABLE");
}

TEST_F(Discovery, BadManifestsAreFindings) {
  folder.write("d/a.json", "not JSON");
  folder.write("d/b.json", std::string(100000, ' '));
  test::fs::create_directory(folder.path("d/c.json"));
  folder.write("d/d.txt", "ignored");
  folder.write("d/.e.json", "ignored");
  surroundings.standard_directories = {folder.path("d")};
  EXPECT_EQ(found(), ":refused :refused :refused");
  EXPECT_EQ(only_finding(0).code, "MANIFEST-INVALID");
  EXPECT_NE(only_finding(0).fix.find("etbk-note --manifest"), std::string::npos);
  EXPECT_EQ(only_finding(1).code, "MANIFEST-INVALID");
  EXPECT_EQ(only_finding(2).code, "MANIFEST-UNREADABLE");
}

TEST_F(Discovery, TheNoteIsTheTruth) {
  install("d", "acme");
  surroundings.standard_directories = {folder.path("d")};
  const std::string good = manifest_text("acme", "Id_acme");
  const auto edit = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    folder.write("d/acme.json", text);
    return found();
  };
  EXPECT_EQ(edit("0.1.0", "0.2.0"), "acme:candidate");
  EXPECT_EQ(only_finding(0).code, "MANIFEST-DISAGREES");
  EXPECT_EQ(only_finding(0).severity, Severity::kWarning);
  EXPECT_EQ(candidates[0].plugin.version, "0.1.0");
  EXPECT_EQ(edit("Id_acme", "Id_other"), "acme:refused");
  EXPECT_EQ(only_finding(0).code, "MANIFEST-DISAGREES");
  EXPECT_NE(only_finding(0).message.find("backends: Id_other / Id_acme"), std::string::npos);
  EXPECT_EQ(edit("\"minor_needed\": 9", "\"minor_needed\": 8"), "acme:refused");
  EXPECT_EQ(only_finding(0).code, "MANIFEST-DISAGREES");
}

TEST_F(Discovery, OneFileByTwoPathsIsNoticed) {
  install("d", "acme");
  test::fs::create_symlink(library("d", "acme"), folder.path("link.so"));
  surroundings.standard_directories = {folder.path("d")};
  options.installed = {folder.path("link.so")};
  EXPECT_EQ(found(), "acme:candidate acme:candidate");
  EXPECT_TRUE(candidates[0].plugin.findings.empty());
  EXPECT_EQ(only_finding(1).code, "PLUGIN-SAME-FILE");
}

TEST_F(Discovery, RelativePathsBecomeAbsolute) {
  install("d", "acme");
  test::fs::current_path(folder.path());
  options.libraries = {"d/libacme.so"};
  EXPECT_EQ(found(), "acme:candidate");
  EXPECT_EQ(candidates[0].plugin.path, library("d", "acme"));
}

double processor_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

TEST_F(Discovery, FiftyManifests) {
  for (int i = 0; i < 50; ++i) {
    install("d", "plugin" + std::to_string(i));
  }
  surroundings.standard_directories = {folder.path("d")};
  found();
  // Processor time of this thread, so that a busy machine fails nothing: 0.8 ms, or 20 with a
  // sanitizer. What would cost more is reading libraries as a whole, or running them.
  constexpr double kMostMilliseconds = 100;
  const double begin = processor_milliseconds();
  found();
  EXPECT_LT(processor_milliseconds() - begin, kMostMilliseconds);
  ASSERT_EQ(candidates.size(), 50u);
  for (const Candidate& candidate : candidates) {
    EXPECT_EQ(candidate.plugin.outcome, Outcome::kCandidate);
  }
}

}  // namespace
}  // namespace etbk::host
