#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lockstep {
namespace {

const Tokenizer& embedded_tokenizer() {
  static const Result<Tokenizer> tokenizer =
      load_tokenizer(LOCKSTEP_SOURCE_DIR "/models/tiny-dense-mlx-4bit/tokenizer.json");
  return tokenizer.value();
}

TEST(Tokenizer, KnowsItsTokens) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  EXPECT_EQ(tokenizer.vocab_size(), 12288);
  const std::optional<int32_t> end = tokenizer.find_token("<|im_end|>");
  ASSERT_TRUE(end.has_value());
  EXPECT_TRUE(tokenizer.is_special(*end));
  EXPECT_EQ(tokenizer.token_bytes(*end), "<|im_end|>");
  const std::optional<int32_t> think = tokenizer.find_token("<think>");
  ASSERT_TRUE(think.has_value());
  EXPECT_TRUE(tokenizer.is_added(*think));
  EXPECT_FALSE(tokenizer.is_special(*think));
  EXPECT_EQ(tokenizer.token_bytes(tokenizer.find_token("\n").value()), "\n");
  EXPECT_FALSE(tokenizer.find_token("no such token").has_value());
  EXPECT_EQ(tokenizer.token_bytes(-1), "");
  EXPECT_EQ(tokenizer.token_bytes(12288), "");
  EXPECT_FALSE(tokenizer.is_special(12288));
}

TEST(Tokenizer, LeavesAddedTokensAsTextOnDemand) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  const std::string text = "a<|im_end|>b<think>";
  const auto count_added = [&](AddedTokens added) {
    const std::vector<int32_t> ids = tokenizer.encode(text, added).value();
    EXPECT_EQ(tokenizer.decode(ids), text);
    return std::count_if(ids.begin(), ids.end(),
                         [&](int32_t id) { return tokenizer.is_added(id); });
  };
  EXPECT_EQ(count_added(AddedTokens::kAll), 2);
  EXPECT_EQ(count_added(AddedTokens::kNotSpecial), 1);
  EXPECT_EQ(count_added(AddedTokens::kNone), 0);
}

TEST(Tokenizer, DecodesEveryIdAndSkipsSpecialOnesOnDemand) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  const std::vector<int32_t> ids = tokenizer.encode("<|im_start|>user\nhi<|im_end|>").value();
  EXPECT_EQ(tokenizer.decode(ids), "<|im_start|>user\nhi<|im_end|>");
  EXPECT_EQ(tokenizer.decode(ids, true), "user\nhi");
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{-5, 1 << 30}), "");
}

TEST(Tokenizer, ReadsBrokenUtf8AsItsRepair) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  EXPECT_EQ(tokenizer.encode("a\xF0\x9F z\xFF").value(),
            tokenizer.encode("a\uFFFD z\uFFFD").value());
  EXPECT_TRUE(tokenizer.encode("").value().empty());
}

}  // namespace
}  // namespace lockstep
