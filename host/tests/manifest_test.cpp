// Manifests that are bad in every field.
#include <gtest/gtest.h>

#include "manifest_reader.hpp"

namespace etbk::host {
namespace {

std::string replace(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const std::string kGood = R"({
  "schema": "etbk.manifest/1", "name": "acme", "vendor": "Acme", "version": "1.2.0",
  "library": "libacme.so", "abi": {"major": 0, "minor": 9, "minor_needed": 9},
  "backends": ["AcmeBackend"], "more": {"schema": 1}})";

std::string problem(const std::string& text) {
  Manifest manifest;
  return parse_manifest(text, &manifest);
}

TEST(Manifest, Good) {
  Manifest manifest;
  EXPECT_EQ(parse_manifest(kGood, &manifest), "");
  EXPECT_EQ(manifest.identity.name, "acme");
  EXPECT_EQ(manifest.identity.abi_minor, 9u);
  EXPECT_EQ(manifest.identity.backends, std::vector<std::string>{"AcmeBackend"});
  EXPECT_EQ(manifest.library, "libacme.so");
}

TEST(Manifest, WhatIsWrittenIsRead) {
  Manifest manifest;
  manifest.identity = {"acme", "\"Acme\" \\ Söhne", "1.0", 0, 9, 9, {"A", "B"}};
  manifest.library = "../lib/libacme.so";
  Manifest again;
  EXPECT_EQ(parse_manifest(write_manifest(manifest), &again), "");
  EXPECT_EQ(compare_identities(manifest.identity, again.identity).text, "");
  EXPECT_EQ(again.library, manifest.library);
}

TEST(Manifest, NotEvenAnObject) {
  for (const char* text :
       {"", "{", "nothing", "[]", "null", "7", "{} {}", "\"text\"", "{\"a\":1,}"}) {
    EXPECT_NE(problem(text), "") << text;
  }
  EXPECT_EQ(problem("{"), "it is not JSON");
  EXPECT_EQ(problem("[]"), "it is not a JSON object");
  EXPECT_EQ(problem("{\"vendor\": \"\xff\"}"), "it is not JSON");
  EXPECT_NE(problem(std::string(70000, '[')), "");
  EXPECT_NE(problem(std::string(60000, '[')), "");
  EXPECT_NE(problem(kGood + std::string(70000, ' ')), "");
}

TEST(Manifest, EveryFieldIsNeededAndNamed) {
  for (const char* field : {"schema", "name", "vendor", "version", "library", "abi", "backends"}) {
    const std::string quoted = "\"" + std::string(field) + "\"";
    EXPECT_EQ(problem(replace(kGood, quoted, "\"other\"")),
              std::string("the field '") + field + "' is missing");
  }
  for (const char* field : {"major", "minor", "minor_needed"}) {
    const std::string quoted = "\"" + std::string(field) + "\"";
    EXPECT_EQ(problem(replace(kGood, quoted, "\"other\"")),
              std::string("the field 'abi.") + field + "' is missing");
  }
}

TEST(Manifest, EveryFieldHasItsType) {
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } cases[] = {
      {"\"etbk.manifest/1\"", "1", "the field 'schema' is not a string"},
      {"etbk.manifest/1", "etbk.manifest/2",
       "its schema is 'etbk.manifest/2', this host reads 'etbk.manifest/1'"},
      {"\"acme\"", "null", "the field 'name' is not a string"},
      {"\"acme\"", "\"Ac me\"", "its name has characters other than small letters, digits and '_'"},
      {"\"acme\"", "\"\"", "its name is empty"},
      {"\"Acme\"", "[]", "the field 'vendor' is not a string"},
      {"\"Acme\"", "\"A\\u001bB\"", "its vendor has control characters"},
      {"\"1.2.0\"", "1.2", "the field 'version' is not a string"},
      {"\"1.2.0\"", "\"\"", "its version is empty"},
      {"\"libacme.so\"", "{}", "the field 'library' is not a string"},
      {"\"libacme.so\"", "\"\"", "the field 'library' is empty"},
      {"\"libacme.so\"", "\"/lib/libacme.so\"",
       "the field 'library' is not relative to the manifest"},
      {"\"libacme.so\"", "\"lib\\u0000acme.so\"", "the field 'library' has control characters"},
      {"{\"major\": 0, \"minor\": 9, \"minor_needed\": 9}", "9",
       "the field 'abi' is not an object"},
      {"\"major\": 0", "\"major\": -1",
       "the field 'abi.major' is not a whole number from 0 to 2^32-1"},
      {"\"minor\": 9", "\"minor\": 9.5",
       "the field 'abi.minor' is not a whole number from 0 to 2^32-1"},
      {"\"minor_needed\": 9", "\"minor_needed\": 4294967296",
       "the field 'abi.minor_needed' is not a whole number from 0 to 2^32-1"},
      {"\"minor_needed\": 9", "\"minor_needed\": 10",
       "it needs ABI minor 10 and was compiled with 9"},
      {"[\"AcmeBackend\"]", "\"AcmeBackend\"", "the field 'backends' is not a list of 1 to 64 ids"},
      {"[\"AcmeBackend\"]", "[]", "it names 0 backends, 1 to 64 are allowed"},
      {"[\"AcmeBackend\"]", "[\"A\", 1]",
       "the field 'backends' holds something other than strings"},
      {"[\"AcmeBackend\"]", "[\"A\", \"A\"]", "it names the backend 'A' twice"},
      {"\"AcmeBackend\"", "\"Acme Backend\"",
       "its backend id 0 is not an identifier (letters, digits and '_', not beginning with a "
       "digit)"},
      {"\"more\"", "\"name\"", "it has the field 'name' twice"},
  };
  for (const auto& item : cases) {
    EXPECT_EQ(problem(replace(kGood, item.from, item.to)), item.says) << item.to;
  }
}

}  // namespace
}  // namespace etbk::host
