#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "text/tokenizers_for_test.h"

namespace lockstep {
namespace {

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

TEST(Tokenizer, TakesAWordThatIsAPieceWholeIfMergesAreIgnored) {
  json::object document = small_tokenizer();
  json::object& model = document["model"].as_object();
  model["vocab"].as_object()["zyx"] = 259;  // no merge makes it
  const auto ids = [&](std::string_view text) {
    return Tokenizer::parse(dump_json(document), "t.json").value().encode(text).value();
  };
  EXPECT_EQ(ids("zyx abc"), (std::vector<int32_t>{'z', 'y', 'x', 32, 257}));
  model["ignore_merges"] = true;
  EXPECT_EQ(ids("zyx abc"), (std::vector<int32_t>{259, 32, 257}));
  EXPECT_EQ(ids("zyxz"), (std::vector<int32_t>{'z', 'y', 'x', 'z'}));
}

TEST(Tokenizer, NormalisesOnlyIfTheFileSaysSo) {
  json::object document = small_tokenizer();
  const std::string text = "e\u0301";
  const Tokenizer nfc = Tokenizer::parse(dump_json(document), "t.json").value();
  EXPECT_EQ(nfc.decode(nfc.encode(text).value()), "\u00E9");
  document["normalizer"] = nullptr;
  const Tokenizer none = Tokenizer::parse(dump_json(document), "t.json").value();
  EXPECT_EQ(none.decode(none.encode(text).value()), text);
}

// Words that share a slot of the cache, and more words than it has slots.
TEST(Tokenizer, GivesTheSameIdsWithAWarmCache) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  const Tokenizer fresh =
      load_tokenizer(LOCKSTEP_SOURCE_DIR "/models/tiny-dense-mlx-4bit/tokenizer.json").value();
  std::string text;
  for (int i = 0; i < 60000; ++i) {
    text += " w";
    for (int rest = i; rest > 0; rest /= 26) text += static_cast<char>('a' + rest % 26);
  }
  const std::vector<int32_t> expected = fresh.encode(text).value();
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(tokenizer.encode(text).value() == expected);  // too long to print
  }
  EXPECT_EQ(tokenizer.decode(expected), text);
  // Each word alone, in a tokenizer that has seen no other.
  std::vector<int32_t> apart;
  for (size_t start = 0; start < 20000; start = text.find(' ', start + 1)) {
    const std::string_view word =
        std::string_view(text).substr(start, text.find(' ', start + 1) - start);
    const std::vector<int32_t> ids = fresh.encode(word).value();
    apart.insert(apart.end(), ids.begin(), ids.end());
  }
  EXPECT_TRUE(std::equal(apart.begin(), apart.end(), expected.begin()));
}

TEST(Tokenizer, ServesSeveralThreads) {
  const Tokenizer& tokenizer = embedded_tokenizer();
  const std::string text = "Several threads read this text, caf\u00E9 <think> and all.\n";
  const std::vector<int32_t> expected = tokenizer.encode(text).value();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        wrong += tokenizer.encode(text).value() == expected ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace lockstep
