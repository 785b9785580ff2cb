#include "text/detokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "text/tokenizers_for_test.h"
#include "text/utf8.h"

namespace lockstep {
namespace {

std::vector<int32_t> byte_ids(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids;
  for (const char& byte : text) ids.push_back(tokenizer.find_token({&byte, 1}).value());
  return ids;
}

TEST(Detokenizer, HoldsBackACharacterUntilItIsWhole) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  Detokenizer detokenizer(tokenizer);
  std::vector<std::string> parts;
  for (const int32_t id : byte_ids(tokenizer, "a\u00E9\U0001F600")) {
    parts.push_back(detokenizer.push(id));
  }
  EXPECT_EQ(parts, (std::vector<std::string>{"a", "", "\u00E9", "", "", "", "\U0001F600"}));
  EXPECT_EQ(detokenizer.finish(), "");
}

TEST(Detokenizer, GivesUpWhatCannotBecomeACharacter) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  Detokenizer detokenizer(tokenizer);
  std::vector<std::string> parts;
  for (const int32_t id : byte_ids(tokenizer, "\xF0\x9Fz\xED\xA0\x80\xE2\x82")) {
    parts.push_back(detokenizer.push(id));
  }
  EXPECT_EQ(parts,
            (std::vector<std::string>{"", "", "\uFFFDz", "", "\uFFFD\uFFFD", "\uFFFD", "", ""}));
  EXPECT_EQ(detokenizer.finish(), "\uFFFD");
  EXPECT_EQ(detokenizer.finish(), "");
}

// Characters of every length, whole and broken, cut after every byte.
TEST(Detokenizer, StreamsBytesAsTheyDecodeTogether) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  std::mt19937 random(20261129);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    while (text.size() < 12) {
      static constexpr uint32_t kLimits[] = {0x80, 0x800, 0xD800, kMaxCodePoint + 1};
      append_utf8(random() % kLimits[random() % 4], text);
    }
    for (uint32_t damage = random() % 4; damage > 0; --damage) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const std::vector<int32_t> ids = byte_ids(tokenizer, text);
    Detokenizer detokenizer(tokenizer);
    std::string streamed;
    for (const int32_t id : ids) {
      const std::string part = detokenizer.push(id);
      ASSERT_TRUE(is_valid_utf8(part));
      streamed += part;
    }
    streamed += detokenizer.finish();
    ASSERT_EQ(streamed, tokenizer.decode(ids)) << testing::PrintToString(text);
    ASSERT_EQ(streamed, replace_invalid_utf8(text)) << testing::PrintToString(text);
  }
}

TEST(Detokenizer, SkipsSpecialTokensOnDemand) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  const std::vector<int32_t> ids = tokenizer.encode("hi<|im_end|>\n<think>").value();
  for (const bool skip : {false, true}) {
    Detokenizer detokenizer(tokenizer, skip);
    std::string streamed;
    for (const int32_t id : ids) streamed += detokenizer.push(id);
    EXPECT_EQ(streamed, skip ? "hi\n<think>" : "hi<|im_end|>\n<think>");
    EXPECT_EQ(streamed, tokenizer.decode(ids, skip));
  }
}

}  // namespace
}  // namespace lockstep
