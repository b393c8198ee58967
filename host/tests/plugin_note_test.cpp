// The grammar of notes, and both directions of a version that does not fit.
#include "plugin_note.hpp"

#include <gtest/gtest.h>

#include "library_inspector.hpp"

namespace etbk::host {
namespace {

std::vector<std::uint8_t> note(const std::string& text, std::uint8_t format = 1) {
  std::string bytes(16, '\0');
  bytes[0] = static_cast<char>(format);
  bytes[8] = bytes[12] = 9;
  bytes += text;
  return {bytes.begin(), bytes.end()};
}

std::string problem(const std::string& text, PluginIdentity* identity = nullptr) {
  PluginIdentity unused;
  bool has_abi = false;
  const std::string found =
      parse_plugin_note(note(text), true, identity == nullptr ? &unused : identity, &has_abi);
  EXPECT_TRUE(has_abi);
  return found;
}

const std::string kHead = "name=acme\nvendor=Acme Inc.\nversion=1.2.0\n";

TEST(PluginNote, Good) {
  PluginIdentity identity;
  EXPECT_EQ(problem(kHead + "id=AcmeOne\nid=AcmeTwo\nlater=what we do not know\n" +
                        std::string("\0\0\0", 3),
                    &identity),
            "");
  EXPECT_EQ(identity.name, "acme");
  EXPECT_EQ(identity.vendor, "Acme Inc.");
  EXPECT_EQ(identity.version, "1.2.0");
  EXPECT_EQ(identity.backends, (std::vector<std::string>{"AcmeOne", "AcmeTwo"}));
}

TEST(PluginNote, TextsThatAreWrong) {
  const std::string many = [] {
    std::string text;
    for (int i = 0; i < 65; ++i) {
      text += "id=B" + std::to_string(i) + "\n";
    }
    return text;
  }();
  const std::string wrong[] = {
      "",
      "name=acme\n",
      "vendor=Acme\nname=acme\nversion=1\nid=A\n",
      kHead,
      kHead + "id=A",
      kHead + "id=A\nid=A\n",
      kHead + "id=\n",
      kHead + "id=9A\n",
      kHead + "id=Two words\n",
      kHead + "id=" + std::string(64, 'A') + "\n",
      kHead + "id=A\n=nothing\n",
      kHead + "id=A\nnothing\n",
      kHead + std::string("id=A\0B\n", 7),
      kHead + many,
      "name=\nvendor=Acme\nversion=1\nid=A\n",
      "name=Acme\nvendor=Acme\nversion=1\nid=A\n",
      "name=9acme\nvendor=Acme\nversion=1\nid=A\n",
      "name=ac-me\nvendor=Acme\nversion=1\nid=A\n",
      "name=" + std::string(64, 'a') + "\nvendor=Acme\nversion=1\nid=A\n",
      "name=acme\nvendor=\x1b[31mAcme\nversion=1\nid=A\n",
      "name=acme\nvendor=Acme\nversion=\nid=A\n",
      "name=acme\nvendor=" + std::string(256, 'v') + "\nversion=1\nid=A\n",
      kHead + "id=A\nx=" + std::string(5000, 'x') + "\n",
  };
  for (const std::string& text : wrong) {
    EXPECT_NE(problem(text), "") << text;
  }
}

TEST(PluginNote, ShortAndForeignFormat) {
  PluginIdentity identity;
  bool has_abi = true;
  EXPECT_NE(parse_plugin_note({1, 0, 0}, true, &identity, &has_abi), "");
  EXPECT_FALSE(has_abi);
  EXPECT_EQ(parse_plugin_note(note(kHead + "id=A\n", 2), true, &identity, &has_abi),
            "its format is 2, this host reads format 1");
  EXPECT_TRUE(has_abi);
}

std::vector<Finding> judge(std::uint32_t major, std::uint32_t minor, std::uint32_t needed,
                           const HostAbi& host) {
  PluginIdentity identity;
  identity.abi_major = major;
  identity.abi_minor = minor;
  identity.abi_minor_needed = needed;
  std::vector<Finding> findings;
  judge_abi("acme", identity, host, &findings);
  return findings;
}

std::string code(const std::vector<Finding>& findings) {
  return findings.empty() ? "" : findings[0].code;
}

TEST(PluginAbi, TheTextNamesBothVersionsAndTheDirection) {
  const HostAbi host{1, 2, 0, "ExecuTorch 1.5.1"};
  const std::vector<Finding> too_new = judge(1, 5, 4, host);
  ASSERT_EQ(code(too_new), "PLUGIN-ABI-TOO-NEW");
  EXPECT_EQ(too_new[0].message,
            "The plugin 'acme' needs plugin ABI 1.4 or newer, and this host (ExecuTorch 1.5.1) "
            "speaks 1.2: the host is too old for the plugin.");
  const std::vector<Finding> too_old = judge(0, 9, 9, host);
  ASSERT_EQ(code(too_old), "PLUGIN-ABI-TOO-OLD");
  EXPECT_EQ(too_old[0].message,
            "The plugin 'acme' was built for plugin ABI 0.9, and this host (ExecuTorch 1.5.1) "
            "accepts 1.0 to 1.2: the plugin is too old for the host.");
  EXPECT_NE(too_new[0].fix, "");
  EXPECT_NE(too_old[0].fix, "");
}

TEST(PluginAbi, MinorsAreNeverComparedForEquality) {
  const HostAbi host{1, 2, 0, "host"};
  EXPECT_EQ(code(judge(1, 7, 2, host)), "");  // compiled with a newer one, content with ours
  EXPECT_EQ(code(judge(1, 0, 0, host)), "");  // older than ours
  EXPECT_EQ(code(judge(2, 0, 0, host)), "PLUGIN-ABI-TOO-NEW");
  const HostAbi draft{0, 11, 10, "host"};
  EXPECT_EQ(code(judge(0, 9, 9, draft)), "PLUGIN-ABI-TOO-OLD");
  EXPECT_EQ(code(judge(0, 10, 9, draft)), "");
  EXPECT_EQ(code(judge(0, 12, 12, draft)), "PLUGIN-ABI-TOO-NEW");
}

TEST(PluginIdentities, DifferencesAreToldApart) {
  PluginIdentity left{"acme", "Acme", "1.0", 0, 9, 9, {"A", "B"}};
  PluginIdentity right = left;
  right.backends = {"B", "A"};
  EXPECT_EQ(compare_identities(left, right).text, "");
  right.version = "1.1";
  EXPECT_EQ(compare_identities(left, right).text, "version: 1.0 / 1.1");
  EXPECT_FALSE(compare_identities(left, right).essential);
  right.abi_minor_needed = 8;
  EXPECT_TRUE(compare_identities(left, right).essential);
  right = left;
  right.backends = {"A"};
  EXPECT_EQ(compare_identities(left, right).text, "backends: A,B / A");
  EXPECT_TRUE(compare_identities(left, right).essential);
}

}  // namespace
}  // namespace etbk::host
