#include "text/token_list.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace lockstep {
namespace {

// The list that llama.cpp's converter makes of a tokenizer.json: added tokens that are special or
// look it are control, others user-defined, and ids up to the embedding's rows are unused.
struct Converted {
  explicit Converted(const TokenizerFile& file, size_t rows) {
    texts.resize(rows);
    types.assign(rows, 5);
    for (size_t i = 0; i < file.pieces.size(); ++i) {
      if (file.pieces[i].empty()) continue;
      texts[i] = file.pieces[i];
      types[i] = 1;
    }
    for (const AddedToken& token : file.added_tokens) {
      const auto id = static_cast<size_t>(token.id);
      texts[id] = token.content;
      const bool looks = token.content.starts_with("<|") && token.content.ends_with("|>");
      types[id] = token.special || looks ? 3 : 4;
    }
    for (const Merge& merge : file.merges) {
      merge_texts.push_back(file.pieces[static_cast<size_t>(merge.left)] + " " +
                            file.pieces[static_cast<size_t>(merge.right)]);
    }
    for (size_t i = 0; i < rows; ++i) {
      if (types[i] == 5) texts[i] = "[PAD" + std::to_string(i) + "]";
    }
    tokens.assign(texts.begin(), texts.end());
    merges.assign(merge_texts.begin(), merge_texts.end());
  }
  TokenList list() const {
    return {.model = "gpt2", .pre = "qwen35", .tokens = tokens, .types = types, .merges = merges};
  }

  std::vector<std::string> texts, merge_texts;
  std::vector<std::string_view> tokens, merges;
  std::vector<int64_t> types;
};

TokenizerFile embedded_file() {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) +
                     "/models/tiny-dense-mlx-4bit/tokenizer.json");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_tokenizer_file(text, "embedded").value();
}

TEST(TokenList, GivesTheTokenizerOfTheEmbeddedVocabulary) {
  const TokenizerFile want = embedded_file();
  const Converted converted(want, 12300);
  const auto got = read_token_list(converted.list(), "test");
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(got.value().pieces, want.pieces);
  EXPECT_EQ(got.value().pattern, want.pattern);
  EXPECT_EQ(got.value().nfc, want.nfc);
  EXPECT_EQ(got.value().ignore_merges, want.ignore_merges);
  ASSERT_EQ(got.value().merges.size(), want.merges.size());
  for (size_t i = 0; i < want.merges.size(); ++i) {
    const Merge& a = got.value().merges[i];
    const Merge& b = want.merges[i];
    ASSERT_TRUE(a.left == b.left && a.right == b.right && a.merged == b.merged) << i;
  }
  ASSERT_EQ(got.value().added_tokens.size(), want.added_tokens.size());
  for (size_t i = 0; i < want.added_tokens.size(); ++i) {
    const AddedToken& a = got.value().added_tokens[i];
    const AddedToken& b = want.added_tokens[i];
    EXPECT_TRUE(a.content == b.content && a.id == b.id && a.special == b.special &&
                a.normalized == b.normalized && a.lstrip == b.lstrip && a.rstrip == b.rstrip)
        << b.content;
  }
  const Tokenizer one = Tokenizer::make(got.value(), "list").value();
  const Tokenizer other = Tokenizer::make(want, "json").value();
  EXPECT_EQ(one.vocab_size(), other.vocab_size());
  const char* text = "<|im_start|>user\nCaf\xc3\xa9 costs 42 e\xcc\x81!<|im_end|>\n<think>\n";
  EXPECT_EQ(one.encode(text).value(), other.encode(text).value());
}

TEST(TokenList, RefusesWhatWouldChangeIdsByName) {
  const TokenizerFile file = embedded_file();
  const auto message = [&](auto spoil) {
    Converted converted(file, 12300);
    TokenList list = converted.list();
    spoil(converted, list);
    const auto result = read_token_list(list, "test.gguf");
    return result.ok() ? std::string("accepted") : result.error().message;
  };
  const auto expect = [&](const std::string& got, const char* part) {
    EXPECT_NE(got.find(part), std::string::npos) << got;
    EXPECT_TRUE(got.starts_with("test.gguf: tokenizer: ")) << got;
  };
  expect(message([](Converted&, TokenList& l) { l.model = "llama"; }), "\"gpt2\" is expected");
  expect(message([](Converted&, TokenList& l) { l.pre = "qwen2"; }), "\"qwen35\" is expected");
  expect(message([](Converted&, TokenList& l) { l.add_bos = true; }), "add_bos_token");
  expect(message([](Converted&, TokenList& l) { l.types = l.types.subspan(1); }), "types for");
  expect(message([](Converted& c, TokenList&) { c.types[7] = 6; }), "token 7 has type 6");
  expect(message([](Converted& c, TokenList&) { c.tokens[7] = c.tokens[8]; }), "an earlier one");
  expect(message([](Converted& c, TokenList&) { c.tokens[7] = ""; }), "token 7 is empty");
  expect(message([](Converted& c, TokenList&) { c.tokens[7] = "\xff"; }), "not valid UTF-8");
  expect(message([](Converted& c, TokenList&) { c.merges[3] = "ab"; }), "\"a b\" is expected");
  expect(message([](Converted& c, TokenList&) { c.merges[3] = "a b c"; }), "\"a b\" is expected");
  expect(message([](Converted& c, TokenList&) { c.merges[3] = "\x01 b"; }), "which is not there");
}

}  // namespace
}  // namespace lockstep
