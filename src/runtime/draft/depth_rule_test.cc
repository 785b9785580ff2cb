// The rule on recorded traces: what was right, and what rows cost on a machine.
#include "runtime/draft/depth_rule.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lockstep {
namespace {

// Seconds of rounds of 1, 2, ... rows.
CostModel costs_of(double weights, double row) {
  CostModel costs;
  for (int64_t rows = 1; rows <= 64; ++rows) {
    costs.record(rows, weights + row * static_cast<double>(rows));
  }
  return costs;
}

DraftBid bid_of(double chance, int64_t most = kMostDrafts, double seconds = 0.0) {
  DraftBid bid = {.most = most, .seconds = seconds};
  double all = 1.0;
  for (double& survival : bid.survival) survival = all *= chance;
  return bid;
}

TEST(DepthRule, DraftsWhatRowsAreWorth) {
  const CostModel cheap = costs_of(0.1, 0.005);
  const CostModel dear = costs_of(0.1, 0.1);
  const DraftBid likely[] = {bid_of(0.9)};
  const DraftBid unlikely[] = {bid_of(0.1)};
  EXPECT_GE(choose_depths(cheap, 1, 1, likely, 16)[0], 6);
  EXPECT_LE(choose_depths(cheap, 1, 1, unlikely, 16)[0], 1);
  EXPECT_EQ(choose_depths(dear, 1, 1, unlikely, 16)[0], 0);
  // A row costs as much as a round of one: not even a sure draft gains, but for the weights.
  EXPECT_EQ(choose_depths(costs_of(0.001, 0.1), 1, 1, likely, 16)[0], 0);
}

TEST(DepthRule, MakingADraftCounts) {
  const CostModel costs = costs_of(0.1, 0.005);
  const DraftBid free[] = {bid_of(0.7)};
  const DraftBid paid[] = {bid_of(0.7, kMostDrafts, 0.01)};
  const DraftBid dear[] = {bid_of(0.7, kMostDrafts, 0.2)};
  EXPECT_GT(choose_depths(costs, 1, 1, free, 16)[0], choose_depths(costs, 1, 1, paid, 16)[0]);
  EXPECT_GT(choose_depths(costs, 1, 1, paid, 16)[0], 0);
  EXPECT_EQ(choose_depths(costs, 1, 1, dear, 16)[0], 0);
}

TEST(DepthRule, StreamsShareRowsByWhatTheyPromise) {
  const CostModel costs = costs_of(0.1, 0.005);
  const DraftBid bids[] = {bid_of(0.3), bid_of(0.95), bid_of(0.6, 1)};
  const std::vector<int64_t> depths = choose_depths(costs, 5, 5, bids, 6);
  EXPECT_EQ(std::accumulate(depths.begin(), depths.end(), int64_t{0}), 6);
  EXPECT_GT(depths[1], 3);
  EXPECT_LE(depths[2], 1);
  EXPECT_LE(depths[0], 1);
}

TEST(DepthRule, ManyStreamsFillTheRowsThemselves) {
  // Beyond 8 rows the machine computes as long as it reads.
  CostModel costs;
  for (int64_t rows = 1; rows <= 64; ++rows) {
    costs.record(rows, 0.1 + 0.02 * static_cast<double>(rows));
  }
  const std::vector<DraftBid> bids(8, bid_of(0.3));
  for (const int64_t depth : choose_depths(costs, 8, 8, bids, 64)) EXPECT_EQ(depth, 0);
}

TEST(DepthRule, NothingIsDraftedBeforeAnythingWasMeasured) {
  const DraftBid likely[] = {bid_of(0.99)};
  EXPECT_EQ(choose_depths(CostModel(), 1, 1, likely, 8)[0], 0);
  EXPECT_EQ(choose_depths(costs_of(0.1, 0.001), 1, 1, likely, 0)[0], 0);
}

// A reply of which the first half copies a text and the second does not, as rounds were recorded on
// two cores (seconds of 1 to 9 rows, relative): it must be faster than serial decoding, and in the
// second half no slower by 3 %.
TEST(DepthRule, ARecordedReplyGainsAndThenLosesNothing) {
  constexpr double kSeconds[] = {1.00, 1.12, 1.27, 1.41, 1.62, 1.80, 2.03, 2.24, 2.46};
  CostModel costs;
  for (int64_t rows = 1; rows <= 9; ++rows) costs.record(rows, kSeconds[rows - 1]);
  Acceptance acceptance(0.5);
  ProbeBudget probes;
  double seconds[2] = {};
  int64_t tokens[2] = {};
  for (int64_t token = 0; token < 2000;) {
    const bool copies = token < 1000;
    DraftBid bid = {.most = kMostDrafts};
    for (int64_t i = 0; i < kMostDrafts; ++i)
      bid.survival[static_cast<size_t>(i)] = acceptance.survival(i);
    int64_t depth = choose_depths(costs, 1, 1, {&bid, 1}, 8)[0];
    if (depth == 0 && probes.spend(kSeconds[1] - kSeconds[0])) depth = 1;
    const int64_t right = copies ? std::min<int64_t>(depth, 1000 - token - 1) : 0;
    if (depth > 0) acceptance.note(depth, right);
    const double cost = kSeconds[depth];
    probes.earn(cost);
    seconds[copies ? 0 : 1] += cost;
    tokens[copies ? 0 : 1] += 1 + right;
    token += 1 + right;
  }
  EXPECT_LT(seconds[0] / static_cast<double>(tokens[0]), 1.0 / 2.5);
  EXPECT_LT(seconds[1] / static_cast<double>(tokens[1]), 1.03);
}

TEST(ProbeBudget, SpendsAHundredthOfTheTime) {
  ProbeBudget budget;
  EXPECT_FALSE(budget.spend(0.5));
  int probes = 0;
  for (int i = 0; i < 10000; ++i) {
    budget.earn(1.0);
    probes += budget.spend(0.5);
  }
  EXPECT_GE(probes, 198);
  EXPECT_LE(probes, 201);
}

}  // namespace
}  // namespace lockstep
