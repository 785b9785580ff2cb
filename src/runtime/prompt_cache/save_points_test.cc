#include "runtime/prompt_cache/save_points.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep {
namespace {

constexpr SavePolicy kPolicy = {.min_tokens = 32, .interval = 100, .min_gain = 16};

TEST(SavePoints, MarksThePromptsEndThePartingAndIntervals) {
  const std::vector<SavePoint> marks = {
      {40, SaveKind::kSystem}, {247, SaveKind::kBeforeThinking}, {240, SaveKind::kUserTurn}};
  EXPECT_EQ(plan_save_points(250, 0, marks, 130, kPolicy),
            (std::vector<SavePoint>{{40, SaveKind::kSystem},
                                    {100, SaveKind::kInterval},
                                    {130, SaveKind::kParting},
                                    {200, SaveKind::kInterval},
                                    {240, SaveKind::kUserTurn},
                                    {247, SaveKind::kBeforeThinking},
                                    {249, SaveKind::kPromptEnd}}));
}

TEST(SavePoints, NothingIsSavedTwiceOrForLittleGain) {
  const std::vector<SavePoint> marks = {{90, SaveKind::kSystem}, {90, SaveKind::kUserTurn}};
  EXPECT_EQ(plan_save_points(106, 0, marks, 85, kPolicy),
            (std::vector<SavePoint>{{90, SaveKind::kSystem}, {105, SaveKind::kPromptEnd}}));
  EXPECT_EQ(plan_save_points(150, 95, marks, 110, kPolicy),
            (std::vector<SavePoint>{{149, SaveKind::kPromptEnd}}));
  EXPECT_EQ(plan_save_points(150, 149, marks, std::nullopt, kPolicy), std::vector<SavePoint>());
  EXPECT_EQ(plan_save_points(32, 0, marks, std::nullopt, kPolicy), std::vector<SavePoint>());
  EXPECT_EQ(plan_save_points(33, 0, {}, std::nullopt, kPolicy),
            (std::vector<SavePoint>{{32, SaveKind::kPromptEnd}}));
}

TEST(SavePoints, WhateverTheMarksSayThePointsAreUsable) {
  std::mt19937_64 engine(1);
  for (int round = 0; round < 2000; ++round) {
    const auto length = static_cast<int64_t>(engine() % 700);
    const auto resumed = length == 0 ? 0 : static_cast<int64_t>(engine() % uint64_t(length));
    std::vector<SavePoint> marks(engine() % 5);
    for (SavePoint& mark : marks) mark.length = static_cast<int64_t>(engine() % 800) - 50;
    int64_t last = resumed;
    for (const SavePoint& point :
         plan_save_points(length, resumed, marks, static_cast<int64_t>(engine() % 700), kPolicy)) {
      ASSERT_GT(point.length, last);
      ASSERT_LT(point.length, length);
      ASSERT_GE(point.length, kPolicy.min_tokens);
      last = point.length;
    }
  }
}

}  // namespace
}  // namespace lockstep
