// The envelope of a blob is judged before the backend sees a byte of it.
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>
#include <executorch_backend_kit/envelope_writer.hpp>

#include <cstdlib>
#include <cstring>

#include "scripted_backend.hpp"

namespace etbk::test {
namespace {

using Error = rt::Error;

class EnvelopeTest : public testing::Test {
 protected:
  void SetUp() override {
    backend().on_check_blob = nullptr;
    backend().on_init = [this](const EtbkHostApi*, const EtbkInit* init, void**) {
      reached_ = true;
      seen_ = init->blob;
      options_ = init->option_count;
      return ETBK_STATUS_OK;
    };
    fields.backend_id = "EnvelopeBackend";
    fields.blob_format = 3;
    fields.oldest_reader = 3;
    fields.payload_alignment = 64;
  }

  static ScriptedBackend& backend() {
    static auto* const instance = [] {
      auto* const made = new ScriptedBackend("EnvelopeBackend");
      static EtbkBackendInfo info = *made->table()->info;
      info.blob_format_oldest = 2;
      info.blob_format_newest = 4;
      made->mutable_table().info = &info;
      rt::runtime_init();
      unsigned error = 0;
      EXPECT_EQ(adapter::register_backend(made->table(), &error),
                adapter::Registration::kRegistered);
      return made;
    }();
    return *instance;
  }

  std::vector<uint8_t> blob() const { return envelope_blob(fields, "payload", 7); }

  // Loads a delegate with these bytes, aligned to a page as in a mapped file, and `shift` off it.
  Error load(const std::vector<uint8_t>& bytes, size_t shift = 0,
             rt::Span<const rt::BackendOption> options = {}) {
    reached_ = false;
    alignas(4096) static unsigned char place[8192];
    std::memcpy(place + shift, bytes.data(), bytes.size());
    rt::FreeableBuffer buffer(place + shift, bytes.size(), nullptr);
    std::vector<uint8_t> arena(65536);
    rt::MemoryAllocator allocator(65536, arena.data());
    rt::BackendInitContext context(&allocator, nullptr, "forward", nullptr, options);
    if (backend().runtime_backend() == nullptr) {
      ADD_FAILURE() << "the table of backends was full before this test";
      return Error::Internal;
    }
    auto result = backend().runtime_backend()->init(context, &buffer, {});
    if (!result.ok()) {
      return result.error();
    }
    backend().runtime_backend()->destroy(result.get());
    return Error::Ok;
  }

  bool said(const char* text) const { return std::strstr(adapter::last_error(), text) != nullptr; }

  EnvelopeFields fields;
  bool reached_ = false;
  EtbkBytes seen_{};
  size_t options_ = 0;
};

TEST_F(EnvelopeTest, ABlobThatFitsReachesTheBackendUnchanged) {
  const std::vector<uint8_t> bytes = blob();
  ASSERT_EQ(load(bytes), Error::Ok);
  ASSERT_TRUE(reached_);
  ASSERT_EQ(seen_.size, bytes.size());
  EtbkEnvelope envelope{};
  ASSERT_EQ(etbk_envelope_read(seen_.data, seen_.size, seen_.size, &envelope), ETBK_ENVELOPE_OK);
  const char* const payload = static_cast<const char*>(seen_.data) + envelope.header_size;
  EXPECT_EQ(std::string(payload, 7), "payload");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(payload) % 64, 0u) << "usable in place";
}

TEST_F(EnvelopeTest, ABlobWithoutEnvelopePasses) {
  EXPECT_EQ(load({'b', 'y', 't', 'e', 's'}), Error::Ok);
  EXPECT_TRUE(reached_);
}

TEST_F(EnvelopeTest, ANewerFormatIsRefusedWithBothNumbers) {
  fields.blob_format = 7;
  fields.oldest_reader = 6;
  EXPECT_EQ(load(blob()), Error::DelegateInvalidCompatibility);
  EXPECT_FALSE(reached_);
  EXPECT_TRUE(said("newer format"));
  EXPECT_TRUE(said("format 7, readable from format 6 on; this backend reads 2 to 4"));
  EXPECT_TRUE(said("update the backend"));
}

TEST_F(EnvelopeTest, ANewerFormatThatOldReadersUnderstandPasses) {
  fields.blob_format = 7;
  fields.oldest_reader = 4;
  EXPECT_EQ(load(blob()), Error::Ok);
}

TEST_F(EnvelopeTest, AnOlderFormatAsksForANewExport) {
  fields.blob_format = fields.oldest_reader = 1;
  EXPECT_EQ(load(blob()), Error::DelegateInvalidCompatibility);
  EXPECT_FALSE(reached_);
  EXPECT_TRUE(said("older format"));
  EXPECT_TRUE(said("export the model again"));
}

TEST_F(EnvelopeTest, AnotherProcessorIsRefusedByName) {
  fields.arch = "pdp11";
  EXPECT_EQ(load(blob()), Error::DelegateInvalidCompatibility);
  EXPECT_FALSE(reached_);
  EXPECT_TRUE(said("compiled for pdp11, this machine is "));
  fields.arch = etbk_envelope_arch();
  EXPECT_EQ(load(blob()), Error::Ok);
}

TEST_F(EnvelopeTest, AnotherBackendIsRefusedByName) {
  fields.backend_id = "OtherBackend";
  EXPECT_EQ(load(blob()), Error::DelegateInvalidCompatibility);
  EXPECT_TRUE(said("made for \"OtherBackend\", this is \"EnvelopeBackend\""));
}

TEST_F(EnvelopeTest, EveryFlippedBitOfTheHeaderIsRefused) {
  const std::vector<uint8_t> good = blob();
  for (size_t i = 8; i < good.size() - 7; ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bad = good;
      bad[i] = static_cast<uint8_t>(bad[i] ^ 1u << bit);
      ASSERT_EQ(load(bad), Error::DelegateInvalidCompatibility) << "byte " << i << " bit " << bit;
      ASSERT_FALSE(reached_);
    }
  }
}

TEST_F(EnvelopeTest, EveryTruncationIsRefused) {
  const std::vector<uint8_t> good = blob();
  for (size_t size = 8; size < good.size(); ++size) {
    const std::vector<uint8_t> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(load(cut), Error::DelegateInvalidCompatibility) << size << " bytes";
    ASSERT_FALSE(reached_);
  }
}

TEST_F(EnvelopeTest, MisalignedMemoryIsUsableWithAWord) {
  EXPECT_EQ(load(blob(), 16), Error::Ok);
  EXPECT_TRUE(reached_);
}

TEST_F(EnvelopeTest, CheckBlobSeesTheEnvelopeAndTheStartOfThePayload) {
  backend().on_check_blob = [](const EtbkHostApi*, EtbkBytes head, uint32_t* grade) {
    EtbkEnvelope envelope{};
    EXPECT_EQ(etbk_envelope_read(head.data, head.size, 1 << 20, &envelope), ETBK_ENVELOPE_OK);
    EXPECT_GE(head.size, envelope.header_size + 7);
    *grade = ETBK_BLOB_OPTIMAL;
    return ETBK_STATUS_OK;
  };
  EXPECT_EQ(load(blob()), Error::Ok);
}

TEST_F(EnvelopeTest, ThePayloadIsHashedOnlyByWish) {
  std::vector<uint8_t> bytes = blob();
  bytes.back() ^= 1;
  EXPECT_EQ(load(bytes), Error::Ok) << "off by default: it would read all weights";
#if !defined(ETBK_HOST_NO_HEAP)
  ASSERT_EQ(setenv("ETBK_VERIFY_PAYLOAD", "1", 1), 0);
  EXPECT_EQ(load(bytes), Error::DelegateInvalidCompatibility);
  EXPECT_FALSE(reached_);
  EXPECT_TRUE(said("does not have the hash"));
  EXPECT_EQ(load(blob()), Error::Ok);
  unsetenv("ETBK_VERIFY_PAYLOAD");
#endif
  rt::BackendOption option{};
  std::strcpy(option.key, "etbk_verify_payload");
  option.value = true;
  EXPECT_EQ(load(bytes, 0, {&option, 1}), Error::DelegateInvalidCompatibility);
  EXPECT_EQ(load(blob(), 0, {&option, 1}), Error::Ok);
  EXPECT_EQ(options_, 0u) << "it is the host's; a backend would not know it";
}

}  // namespace
}  // namespace etbk::test
