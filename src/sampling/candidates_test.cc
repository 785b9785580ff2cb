#include "sampling/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sampling/test_rows.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<Candidate> all_in_order(const std::vector<float>& row) {
  std::vector<Candidate> all;
  for (size_t id = 0; id < row.size(); ++id) {
    if (row[id] > -kInfinity) all.push_back({row[id], static_cast<int32_t>(id)});
  }
  std::stable_sort(all.begin(), all.end(), precedes);
  return all;
}

std::vector<int32_t> ids_of(std::vector<Candidate> candidates, bool sort) {
  if (sort) std::sort(candidates.begin(), candidates.end(), precedes);
  std::vector<int32_t> ids;
  for (const Candidate& candidate : candidates) ids.push_back(candidate.id);
  return ids;
}

TEST(FindFirst, PrefersTheLowerIdAmongEquals) {
  const std::vector<float> row = {1.0f, 3.0f, -kInfinity, 3.0f};
  EXPECT_EQ(find_first(row).value().id, 1);
  const std::vector<float> zeros = {-kInfinity, -0.0f, 0.0f};
  EXPECT_EQ(find_first(zeros).value().id, 1);
}

TEST(FindFirst, RefusesNonFiniteRowsByTokenAndName) {
  for (size_t at = 0; at < 5; ++at) {
    std::vector<float> row = {1.0f, 2.0f, 5.0f, 2.0f, 1.0f};
    row[at] = std::numeric_limits<float>::quiet_NaN();
    const auto nan = find_first(row);
    ASSERT_FALSE(nan.ok());
    EXPECT_EQ(nan.error().code, ErrorCode::kNumeric);
    EXPECT_EQ(nan.error().message, "the logit of token " + std::to_string(at) + " is not a number");
    row[at] = kInfinity;
    ASSERT_FALSE(find_first(row).ok());
    EXPECT_EQ(find_first(row).error().message,
              "the logit of token " + std::to_string(at) + " is infinite");
  }
  const std::vector<float> masked(4, -kInfinity);
  ASSERT_FALSE(find_first(masked).ok());
  EXPECT_EQ(find_first(masked).error().code, ErrorCode::kNumeric);
  EXPECT_FALSE(find_first({}).ok());
}

TEST(SelectFirst, EqualsTheStartOfAFullSort) {
  for (const size_t size : {1u, 2u, 15u, 257u, 1000u, 5003u}) {
    for (auto row : {normal_row(size, 3.0, size), tied_row(size, size)}) {
      if (size > 10) row[size / 2] = -kInfinity;
      const std::vector<Candidate> sorted = all_in_order(row);
      for (const size_t count : {0u, 1u, 2u, 20u, 255u, 256u, 300u, 5003u}) {
        std::vector<Candidate> selected;
        select_first(row, count, selected);
        const std::vector<Candidate> expected(
            sorted.begin(), sorted.begin() + static_cast<int64_t>(std::min(count, sorted.size())));
        ASSERT_EQ(ids_of(selected, false), ids_of(expected, false)) << size << " " << count;
      }
    }
  }
}

TEST(SelectFirst, AscendingAndDescendingRowsToo) {
  std::vector<float> row(4000);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i);
  std::vector<Candidate> selected;
  select_first(row, 3, selected);
  EXPECT_EQ(ids_of(selected, false), (std::vector<int32_t>{3999, 3998, 3997}));
  std::reverse(row.begin(), row.end());
  select_first(row, 3, selected);
  EXPECT_EQ(ids_of(selected, false), (std::vector<int32_t>{0, 1, 2}));
}

TEST(MassScale, MassesAreTheExponentialsAndAWholeRowFits) {
  for (const size_t size : {1u, 2u, 12288u, 248320u}) {
    const MassScale scale(size, 2.5f, 0.5);
    EXPECT_EQ(static_cast<double>(scale.mass(2.5f)), scale.unit());
    EXPECT_LE(static_cast<double>(size) * scale.unit(), 0x1p62);
    EXPECT_NEAR(static_cast<double>(scale.mass(1.5f)), std::exp(-2.0) * scale.unit(),
                1.0 + 1e-15 * scale.unit());
    EXPECT_EQ(scale.mass(-kInfinity), 0u);
    EXPECT_EQ(scale.mass(-1e6f), 0u);
  }
}

// The definition, by a full sort and one mass after another.
std::vector<int32_t> top_p_by_sorting(const std::vector<float>& row, double temperature,
                                      double top_p) {
  const std::vector<Candidate> sorted = all_in_order(row);
  const MassScale scale(row.size(), sorted.front().logit, temperature);
  uint64_t total = 0;
  for (const Candidate& candidate : sorted) total += scale.mass(candidate.logit);
  const auto target =
      std::max<uint64_t>(1, static_cast<uint64_t>(top_p * static_cast<double>(total)));
  std::vector<int32_t> ids;
  uint64_t sum = 0;
  for (const Candidate& candidate : sorted) {
    if (sum >= target) break;
    sum += scale.mass(candidate.logit);
    ids.push_back(candidate.id);
  }
  return ids;
}

TEST(KeepTopP, KeepsTheShortestStartThatHoldsTheMass) {
  for (const size_t size : {1u, 2u, 3u, 17u, 500u, 4001u}) {
    for (auto row : {normal_row(size, 3.0, size), tied_row(size, size)}) {
      if (size > 10) row[3] = -kInfinity;
      for (const double temperature : {0.01, 0.7, 1.0, 100.0}) {
        for (const double top_p : {1e-9, 0.1, 0.5, 0.95, 0.999999}) {
          std::vector<Candidate> kept = all_in_order(row);
          const MassScale scale(row.size(), kept.front().logit, temperature);
          std::reverse(kept.begin(), kept.end());
          keep_top_p(scale, top_p, kept);
          ASSERT_EQ(ids_of(kept, true), top_p_by_sorting(row, temperature, top_p))
              << size << " " << temperature << " " << top_p;
        }
      }
    }
  }
}

TEST(KeepTopP, TheTokenThatCrossesTheBorderStays) {
  // Probabilities 1/2, 1/4, 1/4 up to rounding of the logits.
  std::vector<Candidate> candidates = {{0.6931472f, 0}, {0.0f, 1}, {0.0f, 2}};
  const MassScale scale(3, 0.6931472f, 1.0);
  auto kept = candidates;
  keep_top_p(scale, 0.6, kept);
  EXPECT_EQ(ids_of(kept, true), (std::vector<int32_t>{0, 1}));
  kept = candidates;
  keep_top_p(scale, 0.4, kept);
  EXPECT_EQ(ids_of(kept, true), (std::vector<int32_t>{0}));
  kept = candidates;
  keep_top_p(scale, 0.8, kept);
  EXPECT_EQ(ids_of(kept, true), (std::vector<int32_t>{0, 1, 2}));
}

TEST(KeepTopP, AllOfTheMassKeepsEveryTokenThatHasSome) {
  std::vector<Candidate> candidates = {{-60.0f, 0}, {-3.0f, 1}, {0.0f, 2}, {-3.0f, 3}};
  const MassScale scale(4, 0.0f, 1.0);
  keep_top_p(scale, 1.0, candidates);
  EXPECT_EQ(ids_of(candidates, true), (std::vector<int32_t>{2, 1, 3}));
}

}  // namespace
}  // namespace lockstep
