#include "text/pattern_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/word_splitter.h"

namespace lockstep {
namespace {

std::vector<std::string> split(std::string_view pattern, std::string_view text) {
  const Result<PatternSplitter> splitter = PatternSplitter::compile(pattern);
  EXPECT_TRUE(splitter.ok()) << splitter.error().message;
  std::vector<size_t> ends;
  const Status status = splitter.value().split(text, ends);
  EXPECT_TRUE(status.ok()) << status.error().message;
  std::vector<std::string> words;
  size_t start = 0;
  for (const size_t end : ends) {
    words.emplace_back(text.substr(start, end - start));
    start = end;
  }
  EXPECT_EQ(start, text.size());
  return words;
}

using Words = std::vector<std::string>;

TEST(PatternSplitter, KeepsWhatDoesNotMatch) {
  EXPECT_EQ(split("\\p{N}{1,3}", "ab1234c"), (Words{"ab", "123", "4", "c"}));
  EXPECT_EQ(split("x*", "axx\u00E9"), (Words{"a", "xx", "\u00E9"}));
  EXPECT_EQ(split("z", ""), (Words{}));
}

TEST(PatternSplitter, KnowsTheWhiteSpaceOfTheReference) {
  EXPECT_EQ(split("\\s+", "a\u0085\u2028b\u180Ec"), (Words{"a", "\u0085\u2028", "b\u180Ec"}));
  EXPECT_EQ(split("[^\\s]+", "\u180E \u3000"), (Words{"\u180E", " \u3000"}));
  EXPECT_EQ(split("[\\Sx]+", " \u180E\u0085"), (Words{" ", "\u180E", "\u0085"}));
}

TEST(PatternSplitter, FoldsTheLongS) {
  EXPECT_EQ(split("(?i:'s|'re)", "'S'\u017F'Re'x"), (Words{"'S", "'\u017F", "'Re", "'x"}));
}

TEST(PatternSplitter, RefusesWhatTheEnginesReadDifferently) {
  for (const char* pattern :
       {"",           "^a",      "a$",      "a.b",    "\\w+",       "\\h",
        "\\v",        "\\bx",    "[a[b]]",  "[a&&b]", "[]a]",       "[a",
        "a\\",        "\\p{Cn}", "\\p{^L}", "\\pL",   "\\p{L",      "(?i:\\p{Lu})",
        "(?i:[a-z])", "(?i:ss)", "(?i:st)", "(?i)a",  "(?<name>a)", "(*LIMIT_MATCH=1)a",
        "a{,3}",      "a{2}+",   "a{2}?",   "a{2",    "\\1",        "(a"}) {
    EXPECT_FALSE(PatternSplitter::compile(pattern).ok()) << pattern;
  }
  EXPECT_FALSE(PatternSplitter::compile(std::string(5000, 'a')).ok());
  const Result<std::string> fault = translate_pattern("ab[^\\s]\\w");
  ASSERT_FALSE(fault.ok());
  EXPECT_NE(fault.error().message.find("at byte 7: \\w"), std::string::npos)
      << fault.error().message;
}

TEST(PatternSplitter, AcceptsThePatternsOfKnownModels) {
  for (const char* pattern :
       {"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
        " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
        "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)?| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"}) {
    EXPECT_TRUE(PatternSplitter::compile(pattern).ok()) << pattern;
  }
}

TEST(PatternSplitter, StopsAPatternThatNeedsTooManySteps) {
  const PatternSplitter splitter = PatternSplitter::compile("(a|aa)+[bc]").value();
  std::vector<size_t> ends;
  const Status status = splitter.split(std::string(200, 'a'), ends);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("match limit"), std::string::npos)
      << status.error().message;
}

TEST(PatternSplitter, SplitsAMegabyteOfOneCharacter) {
  for (const char* part : {" ", "a", "\n", "\u3000"}) {
    std::string text;
    while (text.size() < 1000000) text += part;
    std::vector<size_t> expected;
    split_words(text, expected);
    std::vector<size_t> ends;
    ASSERT_TRUE(PatternSplitter::compile(kFamilyPattern).value().split(text, ends).ok());
    EXPECT_EQ(ends, expected) << testing::PrintToString(part);
  }
}

}  // namespace
}  // namespace lockstep
