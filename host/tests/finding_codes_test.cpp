// The list of codes keeps its form.
#include <gtest/gtest.h>
#include <executorch_backend_kit/finding_codes.hpp>

#include <set>
#include <string>

namespace etbk::host {
namespace {

struct Row {
  const char* name;
  const char* code;
  const char* meaning;
};

constexpr Row kRows[] = {
#define ETBK_ROW(name, code, meaning) {#name, code, meaning},
    ETBK_FINDING_LIST(ETBK_ROW)
#undef ETBK_ROW
};

TEST(FindingCodes, EachIsUniqueAndSaysSomething) {
  std::set<std::string> codes;
  for (const Row& row : kRows) {
    std::string from_name = row.name;
    for (char& letter : from_name) {
      letter = letter == '_' ? '-' : letter;
    }
    EXPECT_EQ(from_name, row.code);
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_GT(std::string(row.meaning).size(), 20u) << row.code;
    EXPECT_NE(std::string(row.meaning).back(), '.') << row.code;
  }
  EXPECT_STREQ(code_of(FindingCode::PLUGIN_DAMAGED), "PLUGIN-DAMAGED");
  EXPECT_STREQ(meaning_of(FindingCode::PLUGIN_DAMAGED),
               "the shared library is truncated or damaged");
}

}  // namespace
}  // namespace etbk::host
