#include "text/tokenizer_writer.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "text/token_list.h"
#include "text/tokenizers_for_test.h"

namespace lockstep {
namespace {

TokenizerFile small_file() {
  json::object small = small_tokenizer();
  small["added_tokens"] = json::array{added_token(300, "<|im_end|>", {.special = true}),
                                      added_token(301, "<think>"), added_token(303, "<|fim_pad|>")};
  return parse_tokenizer_file(dump_json(small), "small").value();
}

void expect_same(const TokenizerFile& got, const TokenizerFile& want) {
  EXPECT_EQ(got.pieces, want.pieces);
  EXPECT_EQ(got.pattern, want.pattern);
  EXPECT_EQ(got.nfc, want.nfc);
  EXPECT_EQ(got.ignore_merges, want.ignore_merges);
  ASSERT_EQ(got.merges.size(), want.merges.size());
  for (size_t i = 0; i < got.merges.size(); ++i) {
    EXPECT_EQ(got.merges[i].left, want.merges[i].left) << i;
    EXPECT_EQ(got.merges[i].right, want.merges[i].right) << i;
    EXPECT_EQ(got.merges[i].merged, want.merges[i].merged) << i;
  }
  ASSERT_EQ(got.added_tokens.size(), want.added_tokens.size());
  for (size_t i = 0; i < got.added_tokens.size(); ++i) {
    EXPECT_EQ(got.added_tokens[i].id, want.added_tokens[i].id);
    EXPECT_EQ(got.added_tokens[i].content, want.added_tokens[i].content);
    EXPECT_EQ(got.added_tokens[i].special, want.added_tokens[i].special);
  }
}

TEST(TokenizerWriter, IsReadAgainAsItWas) {
  const TokenizerFile file = small_file();
  const auto again = parse_tokenizer_file(tokenizer_json(file), "again");
  ASSERT_TRUE(again.ok()) << again.error().message;
  expect_same(again.value(), file);
}

// Through the lists of a GGUF file, and back.
TEST(TokenList, IsMadeOfATokenizerAndReadAgain) {
  const TokenizerFile file = small_file();
  const auto made = make_token_list(file, 320, "small");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const TokenListTexts& texts = made.value();
  EXPECT_EQ(texts.tokens[256], "ab");
  EXPECT_EQ(texts.merges, (std::vector<std::string>{"a b", "ab c", "\u0120 a"}));
  EXPECT_EQ(texts.types[300], 3);
  EXPECT_EQ(texts.types[301], 4);
  EXPECT_EQ(texts.types[303], 3);  // as llama.cpp's converter has it
  EXPECT_EQ(texts.types[319], 5);
  const std::vector<std::string_view> tokens(texts.tokens.begin(), texts.tokens.end());
  const std::vector<std::string_view> merges(texts.merges.begin(), texts.merges.end());
  const TokenList list = {
      .model = "gpt2", .pre = "qwen35", .tokens = tokens, .types = texts.types, .merges = merges};
  const auto again = read_token_list(list, "again");
  ASSERT_TRUE(again.ok()) << again.error().message;
  expect_same(again.value(), file);
}

TEST(TokenList, RefusesWhatItCannotSay) {
  const auto refused = [](TokenizerFile file, int64_t rows = 320) {
    const auto made = make_token_list(file, rows, "small");
    return made.ok() ? "accepted" : made.error().message;
  };
  TokenizerFile pattern = small_file();
  pattern.pattern = "a+";
  EXPECT_EQ(refused(pattern),
            "small: tokenizer: it cuts words by a pattern of its own, which GGUF cannot say");
  TokenizerFile plain = small_file();
  plain.nfc = false;
  EXPECT_NE(refused(plain).find("NFC"), std::string::npos);
  TokenizerFile stripping = small_file();
  stripping.added_tokens[0].lstrip = true;
  EXPECT_NE(refused(stripping).find("looks at the text around it"), std::string::npos);
  TokenizerFile odd = small_file();
  odd.added_tokens[0].special = false;
  EXPECT_NE(refused(odd).find("is not special"), std::string::npos);
  EXPECT_NE(refused(small_file(), 302).find("has the id 303, the model has 302"),
            std::string::npos);
  EXPECT_NE(refused(small_file(), 100).find("found 259 tokens"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
