// The C API: JSON in the fields of the C++ API, and clear answers to bad requests.
#include <executorch_backend_kit/host.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_adapter.hpp"
#include "temporary_folder.hpp"

namespace {

using etbk::test::plugin;
using nlohmann::json;

json take(char* text) {
  EXPECT_NE(text, nullptr);
  const json document = json::parse(text, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << text;
  etbk_host_free(text);
  return document;
}

TEST(HostC, LoadsAndLists) {
  const json loaded = take(etbk_host_load_plugin(plugin("fake_good").c_str()));
  EXPECT_EQ(loaded["schema"], "etbk.plugins/1");
  EXPECT_TRUE(loaded["findings"].empty());
  const json& first = loaded["plugins"][0];
  EXPECT_EQ(first["name"], "fake_good");
  EXPECT_EQ(first["path"], plugin("fake_good"));
  EXPECT_EQ(first["manifest"], "");
  EXPECT_EQ(first["origin"], "explicit");
  EXPECT_EQ(first["outcome"], "registered");
  EXPECT_EQ(first["vendor"], "Fake Works");
  EXPECT_EQ(first["version"], "1.2.0");
  EXPECT_EQ(first["abi_major"], 0);
  EXPECT_EQ(first["abi_minor"], 9);
  EXPECT_EQ(first["abi_minor_needed"], 9);
  EXPECT_EQ(first["backends"], json::array({"FakeGood"}));
  EXPECT_EQ(take(etbk_host_plugins())["plugins"], loaded["plugins"]);
  EXPECT_EQ(take(etbk_host_registered_backends())["backends"], json::array({"FakeGood"}));
}

TEST(HostC, FindingsCrossWhole) {
  const json loaded = take(etbk_host_load_plugin("/nowhere/lib.so"));
  const json& finding = loaded["plugins"][0]["findings"][0];
  EXPECT_EQ(loaded["plugins"][0]["outcome"], "refused");
  EXPECT_EQ(finding["code"], "PLUGIN-FILE-MISSING");
  EXPECT_EQ(finding["severity"], "error");
  for (const char* field : {"message", "evidence", "fix"}) {
    EXPECT_NE(finding[field], "") << field;
  }
}

TEST(HostC, OptionsOfDiscovery) {
  const json options = {{"libraries", {plugin("fake_good")}},
                        {"manifest_directories", json::array()},
                        {"installed", {plugin("fake_other")}},
                        {"standard_directories", false},
                        {"environment", false}};
  const json found = take(etbk_host_discover(options.dump().c_str()));
  ASSERT_EQ(found["plugins"].size(), 2u);
  EXPECT_EQ(found["plugins"][0]["outcome"], "candidate");
  EXPECT_EQ(found["plugins"][1]["origin"], "installed");
  EXPECT_TRUE(take(etbk_host_registered_backends())["backends"].empty());
  const json loaded = take(etbk_host_load_plugins(options.dump().c_str()));
  EXPECT_EQ(loaded["plugins"][1]["outcome"], "registered");
}

TEST(HostC, BadRequestsAreFindings) {
  for (const char* text :
       {"", "[", "[]", "7", "{\"libraries\": \"x\"}", "{\"libraries\": [1]}",
        "{\"environment\": 1}", "{\"standard_directories\": null}", "{\"library\": []}"}) {
    for (const json& answer :
         {take(etbk_host_discover(text)), take(etbk_host_load_plugins(text))}) {
      EXPECT_TRUE(answer["plugins"].empty()) << text;
      ASSERT_EQ(answer["findings"].size(), 1u) << text;
      EXPECT_EQ(answer["findings"][0]["code"], "HOST-REQUEST-INVALID") << text;
    }
  }
  EXPECT_EQ(take(etbk_host_load_plugin(nullptr))["findings"][0]["code"], "HOST-REQUEST-INVALID");
  EXPECT_EQ(take(etbk_host_audit("{"))["findings"][0]["code"], "HOST-REQUEST-INVALID");
  EXPECT_EQ(take(etbk_host_audit("[1]"))["findings"][0]["code"], "HOST-REQUEST-INVALID");
}

TEST(HostC, Audit) {
  take(etbk_host_load_plugin(plugin("fake_good").c_str()));
  EXPECT_TRUE(take(etbk_host_audit("[\"FakeGood\"]"))["findings"].empty());
  EXPECT_TRUE(take(etbk_host_audit("null"))["findings"].empty());
  EXPECT_TRUE(take(etbk_host_audit(nullptr))["findings"].empty());
  EXPECT_EQ(take(etbk_host_audit("[]"))["findings"][0]["code"], "REGISTRY-PRIVATE");
}

TEST(HostC, ErrorsCountersAndVersions) {
  const json errors = take(etbk_host_recent_errors())["errors"];
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0]["sequence"], 7);
  EXPECT_EQ(errors[0]["backend"], "FakeGood");
  EXPECT_EQ(errors[0]["stage"], "init");
  EXPECT_EQ(errors[0]["status"], ETBK_STATUS_NOT_FOUND);
  EXPECT_EQ(errors[0]["text"], "no \"device\" \xef\xbf\xbd here");
  const json counters = take(etbk_host_counters());
  EXPECT_EQ(counters["executes"], 3);
  EXPECT_EQ(counters["descriptor_refreshes"], 2);
  EXPECT_EQ(counters["heap_allocations"], 1);
  char* const version = etbk_host_runtime_version();
  EXPECT_STREQ(version, "1.5.1");
  etbk_host_free(version);
  char* const library = etbk_host_runtime_library();
  EXPECT_EQ(library[0], '/');
  etbk_host_free(library);
  char* const error = etbk_host_last_error();
  EXPECT_STREQ(error, "the fake never fails");
  etbk_host_free(error);
  etbk_host_free(nullptr);
}

TEST(HostC, OptionsOfBackends) {
  EXPECT_EQ(take(etbk_host_set_option("B", "level", "true"))["status"], ETBK_STATUS_OK);
  EXPECT_EQ(take(etbk_host_set_option("B", "level", "-7"))["status"], ETBK_STATUS_OK);
  EXPECT_EQ(take(etbk_host_set_option("B", "level", "\"loud\""))["status"], ETBK_STATUS_OK);
  const json unknown = take(etbk_host_set_option("B", "unknown", "1"));
  EXPECT_EQ(unknown["status"], ETBK_STATUS_NOT_FOUND);
  EXPECT_EQ(unknown["text"], "the fake never fails");
  for (const char* bad : {"", "null", "1.5", "[1]", "18446744073709551615"}) {
    EXPECT_EQ(take(etbk_host_set_option("B", "level", bad))["status"], ETBK_STATUS_INVALID_ARGUMENT)
        << bad;
  }
  EXPECT_EQ(take(etbk_host_set_option(nullptr, "level", "1"))["status"],
            ETBK_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(take(etbk_host_get_option("B", "level", "int"))["value"], 42);
  EXPECT_EQ(take(etbk_host_get_option("B", "level", "bool"))["value"], true);
  EXPECT_EQ(take(etbk_host_get_option("B", "level", "string"))["value"], "quiet");
  EXPECT_FALSE(take(etbk_host_get_option("B", "unknown", "int")).contains("value"));
  EXPECT_EQ(take(etbk_host_get_option("B", "level", "float"))["status"],
            ETBK_STATUS_INVALID_ARGUMENT);
}

}  // namespace
