#include "runtime/draft/copy_drafter.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep {
namespace {

using Ids = std::vector<int32_t>;

Ids proposed(const Ids& text, int64_t most = 4, const Ids& prediction = {},
             int64_t reply_begin = 0) {
  CopyDrafter drafter(prediction);
  return drafter.propose(text, reply_begin, most).ids;
}

TEST(CopyDrafter, GoesOnAsTheTextDidBefore) {
  EXPECT_EQ(proposed({1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4}), (Ids{5, 6, 7, 8}));
  EXPECT_EQ(proposed({1, 2, 3, 4, 5, 6, 7, 8, 2, 3, 4}, 2), (Ids{5, 6}));
  EXPECT_EQ(proposed({1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 4}), (Ids{})) << "two ids are no match";
  EXPECT_EQ(proposed({1, 2}), (Ids{}));
  EXPECT_EQ(proposed({}), (Ids{}));
}

TEST(CopyDrafter, ACopyThatReachesTheEndGoesOnWithItself) {
  EXPECT_EQ(proposed({7, 7, 7, 7}, 3), (Ids{7, 7, 7}));
  EXPECT_EQ(proposed({1, 2, 3, 1, 2, 3}, 7), (Ids{1, 2, 3, 1, 2, 3, 1}));
}

TEST(CopyDrafter, TheLongestMatchCountsThenTheLast) {
  EXPECT_EQ(proposed({9, 1, 2, 3, 50, 0, 8, 1, 2, 3, 60, 0, 9, 1, 2, 3}, 1), (Ids{50}));
  EXPECT_EQ(proposed({5, 1, 2, 3, 50, 0, 6, 1, 2, 3, 60, 0, 9, 1, 2, 3}, 1), (Ids{60}));
}

TEST(CopyDrafter, APredictionIsCopiedFromItsBeginningAndAfterADetour) {
  const Ids prediction = {11, 12, 13, 14, 15, 16};
  const Ids prompt = {1, 2};
  EXPECT_EQ(proposed(prompt, 3, prediction, 2), (Ids{11, 12, 13}));
  EXPECT_EQ(proposed({1, 2, 11}, 8, prediction, 2), (Ids{12, 13, 14, 15, 16}));
  EXPECT_EQ(proposed({1, 2, 40}, 3, prediction, 2), (Ids{}));
  EXPECT_EQ(proposed({1, 2, 40, 13, 14, 15}, 8, prediction, 2), (Ids{16}))
      << "never beyond its end";
}

TEST(CopyDrafter, AskedAsTheTextGrowsItSaysWhatAFreshOneSays) {
  std::mt19937 random(5);
  CopyDrafter grown({});
  Ids text;
  for (int i = 0; i < 400; ++i) {
    text.push_back(static_cast<int32_t>(random() % 3));
    if (random() % 3 == 0) continue;
    EXPECT_EQ(grown.propose(text, 0, 5).ids, proposed(text, 5)) << i;
  }
}

}  // namespace
}  // namespace lockstep
