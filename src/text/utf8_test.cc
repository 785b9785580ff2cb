#include "text/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

const std::string kFffd = "\xEF\xBF\xBD";

// Expected values are what Python 3.11 gives for bytes.decode("utf-8", "replace").
TEST(Utf8, RepairsEachMaximalSubpartAsPython) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"plain", "plain"},
      {"\xC3\xA9", "\xC3\xA9"},
      {"a\x80z", "a" + kFffd + "z"},
      {"\xC0\xAF", kFffd + kFffd},                          // overlong
      {"\xE0\x80\xAF", kFffd + kFffd + kFffd},              // overlong
      {"\xED\xA0\x80", kFffd + kFffd + kFffd},              // surrogate
      {"\xF4\x90\x80\x80", kFffd + kFffd + kFffd + kFffd},  // above U+10FFFF
      {"\xF0\x9F\x98", kFffd},                              // cut at the end
      {"\xF0\x9F\x98x", kFffd + "x"},                       // cut before another character
      {"\xE2\x82\xE2\x82\xAC", kFffd + "\xE2\x82\xAC"},     // cut, then whole
      {"\xFF\xFE", kFffd + kFffd},
      {std::string("\0\xC2", 2), std::string("\0", 1) + kFffd},
  };
  for (const auto& [broken, repaired] : cases) {
    EXPECT_EQ(replace_invalid_utf8(broken), repaired) << testing::PrintToString(broken);
    EXPECT_EQ(is_valid_utf8(broken), broken == repaired) << testing::PrintToString(broken);
  }
}

TEST(Utf8, EveryCodePointReadsBackAndSurrogatesAreInvalid) {
  std::string text;
  for (uint32_t code_point = 0; code_point <= kMaxCodePoint; ++code_point) {
    text.clear();
    append_utf8(code_point, text);
    const Utf8Step step = read_utf8(text);
    const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
    ASSERT_EQ(step.valid, !surrogate) << std::hex << code_point;
    if (surrogate) continue;
    ASSERT_EQ(step.code_point, code_point);
    ASSERT_EQ(step.length, text.size()) << std::hex << code_point;
  }
}

TEST(Utf8, NamesTheFirstFaultAtEveryOffset) {
  for (size_t offset = 0; offset < 40; ++offset) {
    std::string text(offset, 'a');
    EXPECT_FALSE(find_invalid_utf8(text).has_value());
    text += "\xE2\x82";
    text += std::string(17, 'b') + "\xFF";
    EXPECT_EQ(find_invalid_utf8(text), offset);
  }
}

TEST(Utf8, TellsACutCharacterFromABrokenOne) {
  EXPECT_TRUE(read_utf8("\xE2\x82").truncated);
  EXPECT_TRUE(read_utf8("\xF0").truncated);
  EXPECT_FALSE(read_utf8("\xE2\x82z").truncated);
  EXPECT_FALSE(read_utf8("\x80").truncated);
  EXPECT_FALSE(read_utf8("\xE0\x80").truncated);
}

}  // namespace
}  // namespace lockstep
