#include "runtime/cost_model.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(CostModel, KnowsNothingBeforeTheFirstRound) {
  const CostModel costs;
  EXPECT_FALSE(costs.measured());
  EXPECT_EQ(costs.estimate(1), 0.0);
  EXPECT_EQ(costs.estimate(128), 0.0);
}

TEST(CostModel, GivesBackWhatItMeasured) {
  CostModel costs;
  for (const int64_t rows : {1, 2, 3, 16, 100, 4096}) {
    costs.record(rows, 0.001 * static_cast<double>(rows) + 0.05);
  }
  EXPECT_TRUE(costs.measured());
  for (const int64_t rows : {1, 2, 3, 16, 100, 4096}) {
    EXPECT_NEAR(costs.estimate(rows), 0.001 * static_cast<double>(rows) + 0.05, 1e-12) << rows;
  }
  EXPECT_NEAR(costs.estimate(58), 0.108, 1e-12) << "on the line between 16 and 100";
  EXPECT_EQ(costs.estimate(0), 0.0);
}

TEST(CostModel, IsCarefulBeyondWhatItMeasured) {
  CostModel costs;
  costs.record(10, 1.0);
  EXPECT_DOUBLE_EQ(costs.estimate(40), 4.0) << "in proportion";
  EXPECT_DOUBLE_EQ(costs.estimate(3), 0.5) << "(3 + 4) / (10 + 4)";
}

TEST(CostModel, FollowsAChangeAndForgetsAnOutlier) {
  CostModel costs;
  for (int i = 0; i < 20; ++i) costs.record(8, 1.0);
  costs.record(8, 9.0);
  EXPECT_NEAR(costs.estimate(8), 3.0, 1e-9);
  for (int i = 0; i < 30; ++i) costs.record(8, 2.0);
  EXPECT_NEAR(costs.estimate(8), 2.0, 0.01);
}

TEST(CostModel, BucketsAreHalfOctavesSoThatNeighboursDoNotMix) {
  CostModel costs;
  for (int64_t rows = 1; rows <= 1024; rows *= 2) {
    costs.record(rows, static_cast<double>(rows));
    costs.record(rows + rows / 2, static_cast<double>(rows + rows / 2));
  }
  for (int64_t rows = 1; rows <= 1500; ++rows) {
    EXPECT_NEAR(costs.estimate(rows), static_cast<double>(rows), 0.01) << rows;
  }
}

}  // namespace
}  // namespace lockstep
