#include "sampling/token_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace lockstep {
namespace {

constexpr size_t kVocab = 50;
using Pairs = std::map<int32_t, std::pair<uint32_t, uint32_t>>;

// The definition: prompt and reply in one row, its last `window` tokens.
Pairs counted_by_hand(const std::vector<int32_t>& ids, size_t prompt, int64_t window) {
  Pairs pairs;
  const size_t first =
      window == 0 ? 0 : ids.size() - std::min(ids.size(), static_cast<size_t>(window));
  for (size_t i = first; i < ids.size(); ++i) {
    ++pairs[ids[i]].first;
    if (i >= prompt) ++pairs[ids[i]].second;
  }
  return pairs;
}

Pairs counted(const TokenHistory& history, int64_t window, TokenCounts& counts) {
  history.count(window, kVocab, counts);
  Pairs pairs;
  for (const int32_t id : counts.ids) {
    const TokenCounts::Count& count = counts.of[static_cast<size_t>(id)];
    EXPECT_TRUE(pairs.emplace(id, std::pair(count.all, count.reply)).second) << "twice: " << id;
  }
  return pairs;
}

TEST(TokenHistory, CountsTheWindowOfPromptAndReply) {
  std::mt19937_64 engine(3);
  TokenCounts counts;  // shared: what one count leaves must not show in the next
  for (const size_t prompt : {0u, 1u, 5u, 300u}) {
    std::vector<int32_t> ids;
    for (size_t i = 0; i < prompt; ++i) ids.push_back(static_cast<int32_t>(engine() % kVocab));
    TokenHistory history(ids);
    for (size_t reply = 0; reply <= 600; ++reply) {
      if (reply % 85 == 0 || reply == 255 || reply == 256 || reply == 257 || reply == 512) {
        for (const int64_t window : {0, 1, 2, 64, 255, 256, 257, 400, 10000}) {
          ASSERT_EQ(counted(history, window, counts), counted_by_hand(ids, prompt, window))
              << prompt << " " << reply << " " << window;
        }
      }
      ids.push_back(static_cast<int32_t>(engine() % kVocab));
      history.push(ids.back());
    }
  }
}

TEST(TokenHistory, CopiesGoTheirOwnWays) {
  TokenCounts counts;
  for (const size_t common : {0u, 1u, 254u, 255u, 256u, 511u}) {
    std::vector<int32_t> ids = {1, 2};
    TokenHistory history(ids);
    for (size_t i = 0; i < common; ++i) {
      ids.push_back(static_cast<int32_t>(i % 7));
      history.push(ids.back());
    }
    TokenHistory a = history, b = history;
    std::vector<int32_t> a_ids = ids, b_ids = ids;
    for (int i = 0; i < 300; ++i) {
      a.push(10);
      a_ids.push_back(10);
      b.push(11 + i % 3);
      b_ids.push_back(11 + i % 3);
    }
    EXPECT_EQ(counted(a, 0, counts), counted_by_hand(a_ids, 2, 0));
    EXPECT_EQ(counted(b, 0, counts), counted_by_hand(b_ids, 2, 0));
    EXPECT_EQ(counted(history, 0, counts), counted_by_hand(ids, 2, 0));
  }
}

}  // namespace
}  // namespace lockstep
