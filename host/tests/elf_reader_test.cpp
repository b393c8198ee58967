// Libraries of every kind, and libraries that are none.
#include "elf_reader.hpp"

#include <gtest/gtest.h>

#include "elf_builder.hpp"
#include "library_inspector.hpp"
#include "temporary_folder.hpp"

namespace etbk::host {
namespace {

using test::ElfBuilder;
using test::ElfPlan;
using test::plugin;
using test::read_file;
using test::TemporaryFolder;

ElfReport read(const std::string& bytes) {
  return read_elf(MemorySource(bytes.data(), bytes.size()), "ETBK", ".note.etbk");
}

const HostAbi kHost{0, 9, 9, "ExecuTorch 1.5.1"};

std::string only_code(const Inspection& inspection) {
  return inspection.findings.size() == 1 ? inspection.findings[0].code
                                         : std::to_string(inspection.findings.size()) + " findings";
}

TEST(ElfReader, ReadsWhatTheCompilerMade) {
  const Inspection inspection = inspect_library(plugin("fake_good"), kHost);
  EXPECT_TRUE(inspection.findings.empty());
  EXPECT_EQ(inspection.identity.name, "fake_good");
  EXPECT_EQ(inspection.identity.vendor, "Fake Works");
  EXPECT_EQ(inspection.identity.version, "1.2.0");
  EXPECT_EQ(inspection.identity.abi_major, 0u);
  EXPECT_EQ(inspection.identity.abi_minor, 9u);
  EXPECT_EQ(inspection.identity.abi_minor_needed, 9u);
  EXPECT_EQ(inspection.identity.backends, std::vector<std::string>{"FakeGood"});
  EXPECT_TRUE(inspection.architecture == own_architecture());
}

TEST(ElfReader, ReadsEveryWordSizeAndByteOrder) {
  TemporaryFolder folder;
  for (const bool is_64_bit : {false, true}) {
    for (const bool little_endian : {false, true}) {
      for (const bool in_segment : {false, true}) {
        ElfPlan plan;
        plan.is_64_bit = is_64_bit;
        plan.little_endian = little_endian;
        plan.note_in_segment = in_segment;
        plan.machine = 183;
        const Inspection inspection =
            read_library(folder.write("tiny.so", ElfBuilder(plan).build()));
        SCOPED_TRACE(to_text(inspection.architecture));
        ASSERT_TRUE(inspection.findings.empty()) << inspection.findings[0].message;
        EXPECT_EQ(inspection.architecture.is_64_bit, is_64_bit);
        EXPECT_EQ(inspection.architecture.little_endian, little_endian);
        EXPECT_EQ(inspection.identity.name, "tiny");
        EXPECT_EQ(inspection.identity.abi_minor_needed, 9u);
      }
    }
  }
}

TEST(ElfReader, WrongArchitectureNamesBoth) {
  TemporaryFolder folder;
  std::string bytes = read_file(plugin("fake_good"));
  const bool is_arm = own_architecture().machine == 183;
  bytes[18] = static_cast<char>(is_arm ? 62 : 183);
  const Inspection inspection = inspect_library(folder.write("libother.so", bytes), kHost);
  ASSERT_EQ(only_code(inspection), "PLUGIN-ARCHITECTURE");
  const std::string& message = inspection.findings[0].message;
  EXPECT_NE(message.find("AArch64 (64-bit, little-endian)"), std::string::npos) << message;
  EXPECT_NE(message.find("x86-64 (64-bit, little-endian)"), std::string::npos) << message;
}

#ifdef ETBK_TEST_FOREIGN_PLUGIN
TEST(ElfReader, ReadsALibraryOfTheCrossCompiler) {
  const Inspection inspection = inspect_library(ETBK_TEST_FOREIGN_PLUGIN, kHost);
  EXPECT_EQ(only_code(inspection), "PLUGIN-ARCHITECTURE");
  EXPECT_EQ(inspection.identity.name, "fake_foreign");
}
#endif

TEST(ElfReader, AllThatIsWrongIsSaidAtOnce) {
  TemporaryFolder folder;
  ElfPlan plan;
  plan.machine = 22;
  plan.is_64_bit = false;
  plan.abi_minor_needed = 12;
  const Inspection inspection =
      inspect_library(folder.write("tiny.so", ElfBuilder(plan).build()), kHost);
  ASSERT_EQ(inspection.findings.size(), 2u);
  EXPECT_EQ(inspection.findings[0].code, "PLUGIN-ARCHITECTURE");
  EXPECT_EQ(inspection.findings[1].code, "PLUGIN-ABI-TOO-NEW");
}

TEST(ElfReader, TruncatedAtEveryOffset) {
  const std::string bytes = read_file(plugin("fake_good"));
  ASSERT_GT(bytes.size(), 1000u);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const ElfReport report = read(bytes.substr(0, size));
    ASSERT_NE(report.status, ElfReport::Status::kLibrary) << size << " of " << bytes.size();
    ASSERT_FALSE(report.problem.empty()) << size;
    if (size >= 4) {
      ASSERT_EQ(report.status, ElfReport::Status::kDamaged) << size;
    }
  }
}

// What a download that was interrupted may leave behind: the right size, and zeros.
TEST(ElfReader, ZeroedBehindItsHeaders) {
  std::string bytes = read_file(plugin("fake_good"));
  std::fill(bytes.begin() + 1024, bytes.end(), '\0');
  EXPECT_EQ(read(bytes).status, ElfReport::Status::kDamaged);

  std::string tiny = ElfBuilder(ElfPlan()).build();
  std::fill(tiny.begin() + static_cast<std::ptrdiff_t>(tiny.find("ETBK")), tiny.end(), '\0');
  const ElfReport report = read(tiny);
  EXPECT_EQ(report.status, ElfReport::Status::kDamaged);
  EXPECT_EQ(report.problem, "the dynamic section lacks its end, its symbols or its strings");
}

TEST(ElfReader, AnyByteMayBeAnything) {
  const std::string bytes = ElfBuilder(ElfPlan()).build();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(value);
      refused += read(damaged).status != ElfReport::Status::kLibrary;
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(ElfReader, HeadersOfRealLibraryFlipped) {
  const std::string bytes = read_file(plugin("fake_good"));
  for (std::size_t at = 0; at < 1024; ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      const ElfReport report = read(damaged);
      EXPECT_TRUE(report.status == ElfReport::Status::kLibrary || !report.problem.empty()) << at;
    }
  }
}

TEST(ElfReader, OtherFilesSayWhatTheyAre) {
  TemporaryFolder folder;
  const auto message = [&](const std::string& text) {
    const Inspection inspection = inspect_library(folder.write("x.so", text), kHost);
    EXPECT_EQ(only_code(inspection), "PLUGIN-NOT-A-LIBRARY");
    return inspection.findings[0].message;
  };
  EXPECT_NE(message("").find("the file is empty"), std::string::npos);
  EXPECT_NE(message("#!/bin/sh\necho").find("the file is a script"), std::string::npos);
  EXPECT_NE(message("version https://git-lfs.github.com").find("Git LFS"), std::string::npos);
  const std::string secret = message("\x1b[31mroot:secret");
  EXPECT_NE(secret.find("something else than an ELF file"), std::string::npos);
  EXPECT_EQ(secret.find("root"), std::string::npos) << "what is in it is nobody's business";
  ElfPlan plan;
  plan.type = 1;
  EXPECT_NE(message(ElfBuilder(plan).build()).find("object file"), std::string::npos);
  plan.type = 2;
  EXPECT_NE(message(ElfBuilder(plan).build()).find("is a program"), std::string::npos);
}

TEST(ElfReader, MissingUnreadableAndNoFile) {
  TemporaryFolder folder;
  EXPECT_EQ(only_code(read_library(folder.path("gone.so"))), "PLUGIN-FILE-MISSING");
  EXPECT_EQ(only_code(read_library(folder.write("f", "") + "/below.so")), "PLUGIN-FILE-MISSING");
  EXPECT_EQ(only_code(read_library(folder.path())), "PLUGIN-NOT-A-LIBRARY");
  EXPECT_EQ(only_code(read_library("/dev/null")), "PLUGIN-NOT-A-LIBRARY");
  const std::string loop = folder.path("loop.so");
  test::fs::create_symlink(loop, loop);
  EXPECT_EQ(only_code(read_library(loop)), "PLUGIN-FILE-UNREADABLE");
}

TEST(ElfReader, NoNoteAndTwoNotes) {
  TemporaryFolder folder;
  ElfPlan plan;
  plan.notes = 0;
  EXPECT_EQ(only_code(read_library(folder.write("none.so", ElfBuilder(plan).build()))),
            "PLUGIN-NOTE-MISSING");
  plan.notes = 2;
  EXPECT_EQ(only_code(read_library(folder.write("two.so", ElfBuilder(plan).build()))),
            "PLUGIN-NOTE-INVALID");
}

}  // namespace
}  // namespace etbk::host
