#include "text/nfc.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "text/unicode_tables.h"
#include "text/utf8.h"

namespace lockstep {
namespace {

std::string nfc(std::string_view text) {
  std::string storage;
  return std::string(normalize_nfc(text, storage));
}

// Expected values are those of tokenizers 0.23.3.
TEST(Nfc, ComposesAndReordersAsTheReference) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"plain", "plain"},
      {"e\u0301", "\u00E9"},
      {"\u212B", "\u00C5"},                    // a singleton
      {"\u0958", "\u0915\u093C"},              // excluded from composition
      {"\U0001D15E", "\U0001D157\U0001D165"},  // the same, beyond 16 bits
      {"\u1100\u1161\u11A8", "\uAC01"},        // jamo
      {"\uAC00\u11A8", "\uAC01"},              // a syllable and a trailing jamo
      {"\uAC00\u11A7", "\uAC00\u11A7"},        // one before the trailing jamo
      {"\uAC01\u11A8", "\uAC01\u11A8"},        // the syllable has its trail
      {"\u1100\uAC00\u11A8", "\u1100\uAC01"},
      {"a\u0315\u0300\u05AE\u0327b", "\u00E0\u0327\u05AE\u0315b"},
      {"q\u0301\u0323", "q\u0323\u0301"},
      {"e\u0323\u0301", "\u1EB9\u0301"},
      {"s\u0307\u0323", "\u1E69"},
      {"\u0344", "\u0308\u0301"},
      {"\u0F73\u0F71", "\u0F71\u0F71\u0F72"},        // marks within a mark
      {"\u09C7\u09BE", "\u09CB"},                    // a second part of class 0
      {"\u0B47\u0300\u0B3E", "\u0B47\u0300\u0B3E"},  // blocked
      {"\u0301\u0323", "\u0323\u0301"},              // no letter before
      {"\u3099\u304B\u3099", "\u3099\u304C"},
      {"\U00011099\U000110BA", "\U0001109A"},
      {"q\u0315\u0898", "q\u0315\u0898"},  // a mark of Unicode 14, unknown there
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(nfc(text), expected) << testing::PrintToString(text);
    EXPECT_EQ(nfc("\u4E2D" + text + "y"), "\u4E2D" + expected + "y")
        << testing::PrintToString(text);
  }
}

TEST(Nfc, ReturnsTheTextItselfWhereNothingChanges) {
  std::string storage;
  const std::string_view text = "caf\u00E9 \u4E2D\u6587 \uAC01";
  EXPECT_EQ(normalize_nfc(text, storage).data(), text.data());
  EXPECT_NE(normalize_nfc("e\u0301", storage).data(), text.data());
}

TEST(Nfc, TakesEveryDecompositionBack) {
  for (const Decomposition& row : canonical_decompositions()) {
    std::string parts, whole;
    append_utf8(row.first, parts);
    if (row.second != 0) append_utf8(row.second, parts);
    append_utf8(row.code_point, whole);
    EXPECT_EQ(nfc(parts), nfc(whole)) << std::hex << row.code_point;
    EXPECT_EQ(nfc(whole) == whole, row.composes) << std::hex << row.code_point;
  }
}

// Text that is cut before a character that stands for itself has the normal form of its parts.
TEST(Nfc, DoesNotReachAcrossLetters) {
  std::mt19937 random(20261129);
  const auto part = [&] {
    std::string text(1, static_cast<char>('a' + random() % 26));
    for (uint32_t left = random() % 5; left > 0; --left) append_utf8(0x300 + random() % 0x50, text);
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    std::string text, expected;
    for (uint32_t left = random() % 6; left > 0; --left) {
      const std::string next = part();
      text += next;
      expected += nfc(next);
    }
    ASSERT_EQ(nfc(text), expected) << testing::PrintToString(text);
  }
}

TEST(Nfc, SortsALongRunOfMarks) {
  constexpr int kMarks = 100000;
  std::string text = "q", expected = "q";
  for (int i = 0; i < kMarks; ++i) text += "\u0302\u0323";
  for (int i = 0; i < kMarks; ++i) expected += "\u0323";
  for (int i = 0; i < kMarks; ++i) expected += "\u0302";
  EXPECT_TRUE(nfc(text) == expected);  // too long to print
}

}  // namespace
}  // namespace lockstep
