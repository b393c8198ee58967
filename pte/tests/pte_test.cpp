// The reader on files that are whole, cut, flipped, strange, or changing.
#include <executorch_backend_kit/pte.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <executorch_backend_kit/envelope_writer.hpp>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schema.hpp"
#include "sha256.hpp"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;
using Json = nlohmann::json;

Bytes read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(stream), {});
}

fs::path program(const char* name) { return fs::path(ETBK_PTE_PROGRAMS) / name; }

Json take(char* text) {
  Json document = Json::parse(text);
  etbk_pte_free(text);
  return document;
}

// Everything there is to do with a file; gives the verification.
Json exercise(EtbkPte* file, EtbkPte* external = nullptr) {
  take(etbk_pte_inspect(file, R"({"hash": true})"));
  take(etbk_pte_check(file, external, R"({"backends": [], "kernels": []})", R"({"hash": true})"));
  Json result = take(etbk_pte_verify(file, external, nullptr));
  etbk_pte_close(file);
  return result;
}

Json exercise(const Bytes& bytes) {
  // A heap block of this very size, so that the sanitizer sees one byte too many.
  const Bytes exact(bytes);
  return exercise(etbk_pte_open_memory(exact.data(), exact.size(), nullptr));
}

std::string code(const Json& verification) {
  return verification["findings"].empty() ? "" : verification["findings"][0]["code"];
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("etbk-pte-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

void write_file(const fs::path& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

TEST(Pte, AcceptsEveryExportedProgram) {
  size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(ETBK_PTE_PROGRAMS)) {
    if (entry.path().extension() == ".pte" || entry.path().extension() == ".ptd") {
      const Json result = exercise(etbk_pte_open(entry.path().c_str(), nullptr));
      EXPECT_TRUE(result["accepted"].get<bool>()) << entry.path() << result.dump(1);
      ++seen;
    }
  }
  EXPECT_GE(seen, 9u);
}

TEST(Pte, ReadsPathDescriptorAndMemoryAlike) {
  const fs::path path = program("cnn_xnnpack.pte");
  const Bytes bytes = read_file(path);
  const int descriptor = open(path.c_str(), O_RDONLY);
  EtbkPte* const files[] = {etbk_pte_open(path.c_str(), nullptr),
                            etbk_pte_open_descriptor(descriptor, nullptr),
                            etbk_pte_open_memory(bytes.data(), bytes.size(), nullptr)};
  close(descriptor);
  const Json first = take(etbk_pte_inspect(files[0], R"({"hash": true})"));
  for (EtbkPte* const file : files) {
    EXPECT_EQ(take(etbk_pte_inspect(file, R"({"hash": true})")), first);
    const Json& delegate = first["methods"][0]["delegates"][0];
    const void* const blob = etbk_pte_bytes(file, delegate["offset"], delegate["bytes"]);
    ASSERT_NE(blob, nullptr);
    EXPECT_EQ(std::memcmp(static_cast<const char*>(blob) + 4, "XH00", 4), 0);
    EXPECT_EQ(etbk_pte_bytes(file, bytes.size(), 1), nullptr);
    EXPECT_EQ(etbk_pte_bytes(file, UINT64_MAX, 2), nullptr);
    etbk_pte_close(file);
  }
}

TEST(Pte, EveryTruncationIsRefused) {
  for (const char* const name : {"cond.pte", "lin_external.ptd"}) {
    const Bytes whole = read_file(program(name));
    for (size_t size = 0; size < whole.size(); ++size) {
      const Json result = exercise(Bytes(whole.begin(), whole.begin() + static_cast<long>(size)));
      ASSERT_FALSE(result["accepted"].get<bool>()) << name << " cut to " << size;
    }
  }
}

TEST(Pte, EverySingleByteFlipIsSurvived) {
  for (const char* const name : {"cond.pte", "lin_external.ptd"}) {
    const Bytes whole = read_file(program(name));
    size_t refused = 0;
    for (size_t i = 0; i < whole.size(); ++i) {
      Bytes flipped = whole;
      flipped[i] = static_cast<uint8_t>(~flipped[i]);
      refused += exercise(flipped)["accepted"].get<bool>() ? 0 : 1;
    }
    EXPECT_GT(refused, whole.size() / 4) << name;
  }
}

TEST(Pte, ListsOf64BitNumbersMustBeAligned) {
  Bytes bytes = read_file(program("cnn_portable.pte"));
  namespace ps = etbk::pte::ps;
  const auto& values = *ps::GetProgram(bytes.data())->execution_plan()->Get(0)->values();
  for (const ps::EValue* value : values) {
    if (const ps::IntList* const list = value->val_as_IntList()) {
      // The list begins 4 bytes later: its first element's low half is taken for its length.
      const auto* const length = reinterpret_cast<const uint8_t*>(list->items());
      const auto* const table = reinterpret_cast<const uint8_t*>(list);
      uint8_t* const offset = bytes.data() + (table - bytes.data()) + 4;
      ASSERT_EQ(length - offset, static_cast<long>(etbk_hash_read32(offset)));
      const auto further = static_cast<uint32_t>(length + 4 - offset);
      std::memcpy(offset, &further, sizeof further);
      break;
    }
  }
  const Json result = exercise(bytes);
  EXPECT_EQ(code(result), "PTE-101");
  EXPECT_NE(result["findings"][0]["evidence"].get<std::string>().find("not aligned"),
            std::string::npos)
      << result.dump(1);
}

TEST(Pte, StrangePathsHaveACode) {
  const Folder folder;
  const auto at = [](const fs::path& path) {
    return code(exercise(etbk_pte_open(path.c_str(), nullptr)));
  };
  EXPECT_EQ(at(folder / "absent"), "PTE-001");
  EXPECT_EQ(at(folder / ""), "PTE-002") << "a directory";
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(at(folder / "pipe"), "PTE-002") << "and it must not block";
  EXPECT_EQ(at("/dev/zero"), "PTE-002");
  write_file(folder / "empty", {});
  EXPECT_EQ(at(folder / "empty"), "PTE-003");
  write_file(folder / "text", Bytes(100, 'x'));
  EXPECT_EQ(at(folder / "text"), "PTE-004");
  const std::string odd = "odd \xff\n name.pte";
  write_file(folder / odd, read_file(program("cond.pte")));
  EXPECT_EQ(at(folder / odd), "");
  if (geteuid() != 0) {
    write_file(folder / "closed", Bytes(100, 'x'));
    chmod((folder / "closed").c_str(), 0);
    EXPECT_EQ(at(folder / "closed"), "PTE-001");
  }
}

TEST(Pte, AFileThatShrinksWhileMappedIsAFindingNotASignal) {
  const Folder folder;
  Bytes bytes = read_file(program("cnn_xnnpack.pte"));
  bytes.resize(bytes.size() + 65536, 7);
  write_file(folder / "file.pte", bytes);
  EtbkPte* const file = etbk_pte_open((folder / "file.pte").c_str(), nullptr);
  const auto* const end =
      static_cast<const volatile uint8_t*>(etbk_pte_bytes(file, bytes.size() - 100, 100));
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end[0], 7);
  EXPECT_EQ(etbk_pte_shrank(file), 0);
  ASSERT_EQ(truncate((folder / "file.pte").c_str(), 4096), 0);
  EXPECT_EQ(end[0], 0) << "reads as zeros";
  EXPECT_EQ(etbk_pte_shrank(file), 1);
  take(etbk_pte_inspect(file, R"({"hash": true})"));
  etbk_pte_close(file);
}

// Reads a file, which installs the reader's handler of SIGBUS, over `handler`; then raises one.
void raise_over(void (*handler)(int)) {
  std::signal(SIGBUS, handler);
  EtbkPte* const file = etbk_pte_open(program("cond.pte").c_str(), nullptr);
  etbk_pte_bytes(file, 0, 10);
  raise(SIGBUS);
}

TEST(Pte, AnotherSignalHandlerStillGetsItsSignals) {
  // Each in a new process: the handler is installed once, and sanitizers have one of their own.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(raise_over(SIG_DFL), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(raise_over([](int) { _exit(7); }), testing::ExitedWithCode(7), "");
}

TEST(Pte, TheLimitsHold) {
  const fs::path path = program("cnn_portable.pte");
  EXPECT_EQ(code(exercise(etbk_pte_open(path.c_str(), R"({"program_bytes": 1000})"))), "PTE-014");
  EXPECT_EQ(code(exercise(etbk_pte_open(path.c_str(), R"({"planned_bytes": 100})"))), "PTE-431");
  const Json result = exercise(etbk_pte_open(path.c_str(), R"({"work": 100})"));
  EXPECT_NE(result.dump().find("PTE-015"), std::string::npos);
}

TEST(Pte, AHugeFileCostsItsMetadata) {
  const Folder folder;
  write_file(folder / "big.pte", read_file(program("cnn_portable.pte")));
  ASSERT_EQ(truncate((folder / "big.pte").c_str(), off_t{4} << 30), 0);  // sparse
  const Json result = exercise(etbk_pte_open((folder / "big.pte").c_str(), nullptr));
  EXPECT_TRUE(result["accepted"].get<bool>());
}

TEST(Hashes, AreThePublishedOnes) {
  EXPECT_EQ(etbk_pte_hash("", 0), 0x2d06800538d394c2u);
  EXPECT_EQ(etbk_pte_hash("a", 1), 0xe6c632b61e964e1fu);
  EXPECT_EQ(etbk_pte_hash("abcde", 5), 0x55c65158ee9e652du);
  EXPECT_EQ(etbk_pte_hash("0123456789ab", 12), 0xcc054135822ae555u);
  Bytes many(2500);
  for (size_t i = 0; i < many.size(); ++i) {
    many[i] = static_cast<uint8_t>(i % 251);
  }
  EXPECT_EQ(etbk_pte_hash(many.data(), 100), 0x4e4f921a64bd1cu);
  EXPECT_EQ(etbk_pte_hash(many.data(), 200), 0xf42a8864feaf0703u);
  EXPECT_EQ(etbk_pte_hash(many.data(), 2500), 0x76ebae7c9d5cdc5cu);
  const uint64_t whole = etbk_pte_hash(many.data(), many.size());
  for (size_t cut = 0; cut <= many.size(); ++cut) {
    EtbkHash hash;
    etbk_hash_begin(&hash);
    etbk_hash_add(&hash, many.data(), cut);
    etbk_hash_add(&hash, many.data() + cut, many.size() - cut);
    ASSERT_EQ(etbk_hash_end(&hash), whole) << cut;
  }
  for (size_t size = 0; size < many.size(); ++size) {  // however the processor takes the stripes
    ASSERT_EQ(etbk_pte_hash(many.data(), size), etbk_hash_of(many.data(), size)) << size;
  }
  etbk::pte::Sha256 sha;
  sha.add(reinterpret_cast<const uint8_t*>("abc"), 3);
  const auto digest = sha.end();
  EXPECT_EQ(digest[0], 0xba);
  EXPECT_EQ(digest[31], 0xad);
}

TEST(Envelope, EveryFieldComesBack) {
  etbk::EnvelopeFields fields;
  fields.backend_id = "AcmeBackend";
  fields.device = "npu";
  fields.blob_format = 9;
  fields.oldest_reader = 7;
  fields.payload_alignment = 128;
  fields.named = {{"weights", 12, 34}, {"", 0, 0}};
  const Bytes blob = etbk::envelope_blob(fields, "payload", 7);
  EtbkEnvelope envelope{};
  ASSERT_EQ(etbk_envelope_read(blob.data(), blob.size(), blob.size(), &envelope), ETBK_ENVELOPE_OK);
  EXPECT_EQ(std::string(envelope.backend_id.data, envelope.backend_id.size), "AcmeBackend");
  EXPECT_EQ(std::string(envelope.device.data, envelope.device.size), "npu");
  EXPECT_EQ(envelope.blob_format, 9u);
  EXPECT_EQ(envelope.oldest_reader, 7u);
  EXPECT_EQ(envelope.header_size % 128, 0u);
  EXPECT_EQ(envelope.payload_size, 7u);
  const EtbkEnvelopeNamed named = etbk_envelope_named(blob.data(), &envelope, 0);
  EXPECT_EQ(std::string(named.key.data, named.key.size), "weights");
  EXPECT_EQ(named.hash, 34u);
  EXPECT_EQ(std::memcmp(blob.data() + envelope.header_size, "payload", 7), 0);
}

TEST(Envelope, AHeaderOfAnyBytesIsSurvived) {
  const Bytes blob = etbk::envelope_blob({}, "payload", 7);
  uint64_t state = 1;
  for (int round = 0; round < 20000; ++round) {
    Bytes bad = blob;
    for (int i = 0; i < 3; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      bad[8 + (state >> 33) % (bad.size() - 8)] = static_cast<uint8_t>(state >> 20);
    }
    // With a right checksum, so that the fields themselves are looked at.
    for (size_t i = 16; i < 24; ++i) {
      bad.at(i) = 0;
    }
    const size_t size = etbk_hash_read32(&bad[12]);
    const uint64_t sum = etbk_hash_of(bad.data(), size <= bad.size() ? size : bad.size());
    for (size_t i = 0; i < 8; ++i) {
      bad[16 + i] = static_cast<uint8_t>(sum >> (8 * i));
    }
    EtbkEnvelope envelope{};
    if (etbk_envelope_read(bad.data(), bad.size(), bad.size(), &envelope) == ETBK_ENVELOPE_OK) {
      for (uint32_t i = 0; i < envelope.named_count; ++i) {
        (void)etbk_envelope_named(bad.data(), &envelope, i);
      }
    }
  }
}

}  // namespace
