// Flags of added tokens. Every expected list of ids is what tokenizers 0.23.3 gave.
#include "text/added_tokens.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "text/tokenizer.h"
#include "text/tokenizers_for_test.h"

namespace lockstep {
namespace {

using Ids = std::vector<int32_t>;

// The small tokenizer with these added tokens.
Tokenizer with_added(json::array tokens) {
  json::object document = small_tokenizer();
  document["added_tokens"] = std::move(tokens);
  return Tokenizer::parse(dump_json(document), "t.json").value();
}

Ids encode(const Tokenizer& tokenizer, std::string_view text,
           AddedTokens added = AddedTokens::kAll) {
  return tokenizer.encode(text, added).value();
}

TEST(AddedTokens, TakeWhiteSpaceAlong) {
  const Tokenizer left = with_added({added_token(259, "<x>", {.lstrip = true})});
  EXPECT_EQ(encode(left, "a <x> b"), (Ids{97, 259, 32, 98}));
  EXPECT_EQ(encode(left, " \t\n<x>"), (Ids{259}));
  EXPECT_EQ(encode(left, "\u00A0\u3000<x><x> <x>"), (Ids{259, 259, 259}));
  const Tokenizer right = with_added({added_token(259, "<x>", {.rstrip = true})});
  EXPECT_EQ(encode(right, "a <x> \n b"), (Ids{97, 32, 259, 98}));
  EXPECT_EQ(encode(right, "<x> "), (Ids{259}));
  EXPECT_EQ(encode(right, "<x> <x>\u2028c"), (Ids{259, 259, 99}));
  EXPECT_EQ(encode(right, "<x>\u180E"), (Ids{259, 225, 160, 142}));
  const Tokenizer both = with_added({added_token(259, "<x>", {.lstrip = true, .rstrip = true})});
  EXPECT_EQ(encode(both, "a <x> <x> b"), (Ids{97, 259, 259, 98}));
}

TEST(AddedTokens, BeginWithinTheSpaceThatAnotherTook) {
  const Tokenizer tokenizer = with_added(
      {added_token(259, "<x>", {.rstrip = true}), added_token(260, " y"), added_token(261, "\n")});
  EXPECT_EQ(encode(tokenizer, "<x>  yz"), (Ids{259, 260, 122}));
  EXPECT_EQ(encode(tokenizer, "<x>\n\na"), (Ids{259, 261, 261, 97}));
  const Tokenizer space = with_added({added_token(259, " ", {.lstrip = true})});
  EXPECT_EQ(encode(space, "a  b   "), (Ids{97, 259, 259, 98, 259, 259, 259}));
}

TEST(AddedTokens, StandAloneAsSingleWords) {
  const Tokenizer tokenizer = with_added({added_token(259, "bc", {.single_word = true})});
  EXPECT_EQ(encode(tokenizer, "bc"), (Ids{259}));
  EXPECT_EQ(encode(tokenizer, "abc"), (Ids{257}));
  EXPECT_EQ(encode(tokenizer, "bc d"), (Ids{259, 32, 100}));
  EXPECT_EQ(encode(tokenizer, "bcd"), (Ids{98, 99, 100}));
  EXPECT_EQ(encode(tokenizer, "_bc"), (Ids{95, 98, 99}));
  EXPECT_EQ(encode(tokenizer, "\u00E9bc"), (Ids{195, 169, 98, 99}));
  EXPECT_EQ(encode(tokenizer, "bc\u0301"), (Ids{98, 196, 135}));
  EXPECT_EQ(encode(tokenizer, "(bc)"), (Ids{40, 259, 41}));
  EXPECT_EQ(encode(tokenizer, "bc\u00A0bc bc\u24B6"),
            (Ids{259, 194, 160, 259, 32, 98, 99, 226, 146, 182}));
  EXPECT_EQ(encode(tokenizer, "bc\u200Dbc"), (Ids{98, 99, 226, 128, 141, 98, 99}));
}

TEST(AddedTokens, AreFoundLeftmostThenLongest) {
  const Tokenizer tokenizer =
      with_added({added_token(256, "ab"), added_token(257, "abc"), added_token(259, "bcd")});
  EXPECT_EQ(encode(tokenizer, "abcd"), (Ids{257, 100}));
  EXPECT_EQ(encode(tokenizer, "ababc"), (Ids{256, 257}));
  EXPECT_EQ(encode(tokenizer, "bcdab"), (Ids{259, 256}));
}

TEST(AddedTokens, AreFoundInRawOrInNormalisedText) {
  const std::string composed = "caf\u00E9", decomposed = "cafe\u0301";
  const Ids bytes = {99, 97, 102, 195, 169};
  for (const std::string& content : {composed, decomposed}) {
    const Tokenizer normalized = with_added({added_token(259, content, {.normalized = true})});
    EXPECT_EQ(encode(normalized, composed), (Ids{259}));
    EXPECT_EQ(encode(normalized, decomposed), (Ids{259}));
    const Tokenizer raw = with_added({added_token(259, content)});
    EXPECT_EQ(encode(raw, content), (Ids{259}));
    EXPECT_EQ(encode(raw, content == composed ? decomposed : composed), bytes);
  }
  const Tokenizer both =
      with_added({added_token(259, "<x>", {.normalized = true}), added_token(260, "x>y")});
  EXPECT_EQ(encode(both, "<x>y"), (Ids{60, 260}));
  EXPECT_EQ(encode(both, "<x>z"), (Ids{259, 122}));
}

TEST(AddedTokens, ThatAreSpecialStayTextOnDemand) {
  const Tokenizer tokenizer = with_added({added_token(259, "<s>", {.special = true}),
                                          added_token(260, "s>t"), added_token(261, "<n>")});
  EXPECT_EQ(encode(tokenizer, "<s>t<n>"), (Ids{259, 116, 261}));
  // The match of the special one still hides what overlaps it.
  EXPECT_EQ(encode(tokenizer, "<s>t<n>", AddedTokens::kNotSpecial), (Ids{60, 115, 62, 116, 261}));
  EXPECT_EQ(encode(tokenizer, "<s>t<n>", AddedTokens::kNone), (Ids{60, 115, 62, 116, 60, 110, 62}));
}

TEST(AddedTokens, DecodeAsTheReferenceDecodesThem) {
  const Tokenizer tokenizer =
      with_added({added_token(259, "\u0120a\u00E9"), added_token(260, "a b"),
                  added_token(261, "cafe\u0301", {.normalized = true})});
  EXPECT_EQ(tokenizer.decode(Ids{259}), " a\uFFFD");  // all of the printable alphabet
  EXPECT_EQ(tokenizer.decode(Ids{260}), "a b");
  EXPECT_EQ(tokenizer.decode(Ids{261}), "caf\uFFFD");
  EXPECT_EQ(tokenizer.find_token("cafe\u0301"), 261);
}

TEST(AddedTokenMatcher, FindsWhatASearchOneByOneFinds) {
  std::mt19937 random(20261129);
  const auto word = [&](uint32_t most) {
    std::string text(random() % most + 1, ' ');
    for (char& c : text) c = "ab"[random() % 2];
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> contents;
    std::vector<std::pair<std::string, AddedToken>> tokens;
    for (int32_t id = 0; id < 6; ++id) {
      const std::string content = word(5);
      if (std::count(contents.begin(), contents.end(), content) != 0) continue;
      contents.push_back(content);
      tokens.emplace_back(content, AddedToken{.content = content, .id = id});
    }
    const AddedTokenMatcher matcher(tokens);
    const std::string text = word(30);
    std::vector<AddedTokenMatcher::Piece> pieces;
    matcher.split(text, false, pieces);
    size_t at = 0;
    for (const AddedTokenMatcher::Piece& piece : pieces) {
      for (const char& c : piece.text) {  // no token starts within text, and tokens are longest
        const std::string_view rest = std::string_view(text).substr(at + (&c - piece.text.data()));
        size_t longest = 0;
        for (const std::string& content : contents) {
          if (rest.starts_with(content)) longest = std::max(longest, content.size());
        }
        if (piece.id != AddedTokenMatcher::kText) {
          ASSERT_EQ(longest, piece.text.size()) << text;
          break;
        }
        ASSERT_EQ(longest, 0u) << text;
      }
      at += piece.text.size();
    }
    ASSERT_EQ(at, text.size());
  }
}

}  // namespace
}  // namespace lockstep
