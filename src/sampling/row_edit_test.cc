#include "sampling/row_edit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sampling/test_rows.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

std::vector<float> edited(const SamplingSettings& settings, std::vector<float> row,
                          const std::vector<int32_t>& prompt = {},
                          const std::vector<int32_t>& reply = {}, TokenMask mask = {}) {
  const RowEdit edit(settings, row.size());
  TokenHistory history(prompt);
  for (const int32_t id : reply) history.push(id);
  TokenCounts counts;
  edit.apply(mask, history, counts, row);
  return row;
}

TEST(RowEdit, NeutralSettingsChangeNothing) {
  EXPECT_TRUE(RowEdit({}, 100).empty());
  EXPECT_TRUE(RowEdit({.temperature = 0.3, .top_k = 5, .penalty_window = 64}, 100).empty());
  EXPECT_FALSE(RowEdit({.banned_tokens = {3}}, 100).empty());
  EXPECT_FALSE(RowEdit({.presence_penalty = 0.5}, 100).empty());
  const std::vector<float> row = normal_row(100, 2.0, 1);
  EXPECT_EQ(edited({}, row, {1, 2}, {3}), row);
}

TEST(RowEdit, RepetitionDividesWhatIsLikelyAndMultipliesWhatIsNot) {
  const std::vector<float> row = {3.0f, -3.0f, 0.0f, 3.0f, -kInfinity};
  EXPECT_EQ(edited({.repetition_penalty = 1.5}, row, {0, 4}, {1, 1, 2}),
            (std::vector<float>{2.0f, -4.5f, 0.0f, 3.0f, -kInfinity}));
  EXPECT_EQ(edited({.repetition_penalty = 0.5}, row, {0}, {1}),
            (std::vector<float>{6.0f, -1.5f, 0.0f, 3.0f, -kInfinity}));
}

TEST(RowEdit, PresenceAndFrequencyCountTheReplyAlone) {
  const std::vector<float> row = {1.0f, 1.0f, 1.0f, 1.0f};
  EXPECT_EQ(edited({.presence_penalty = 0.5}, row, {0, 0}, {1, 2, 2}),
            (std::vector<float>{1.0f, 0.5f, 0.5f, 1.0f}));
  EXPECT_EQ(edited({.frequency_penalty = 0.25}, row, {0, 0}, {1, 2, 2}),
            (std::vector<float>{1.0f, 0.75f, 0.5f, 1.0f}));
  EXPECT_EQ(
      edited({.presence_penalty = 1.0, .frequency_penalty = -0.25}, row, {2}, {1, 2, 2, 2, 2}),
      (std::vector<float>{1.0f, 0.25f, 1.0f, 1.0f}));
}

TEST(RowEdit, TheWindowHoldsTheLastTokensOfPromptAndReply) {
  const std::vector<float> row = {2.0f, 2.0f, 2.0f, 2.0f};
  const SamplingSettings settings{.repetition_penalty = 2.0, .penalty_window = 3};
  EXPECT_EQ(edited(settings, row, {0, 1, 2}), (std::vector<float>{1.0f, 1.0f, 1.0f, 2.0f}));
  EXPECT_EQ(edited(settings, row, {0, 1, 2}, {3}), (std::vector<float>{2.0f, 1.0f, 1.0f, 1.0f}));
  EXPECT_EQ(edited(settings, row, {0}, {3, 3, 3}), (std::vector<float>{2.0f, 2.0f, 2.0f, 1.0f}));
}

// 1.1 is no float: dividing and subtracting in one rounding differs from rounding in between.
TEST(RowEdit, PenaltiesAreRoundedOnceAndBiasesAfterThem) {
  std::vector<float> row = normal_row(1000, 3.0, 5);
  int told_apart = 0;
  for (int32_t id = 0; id < 1000; ++id) {
    const float logit = row[static_cast<size_t>(id)];
    const double ratio = logit > 0 ? logit / 1.1 : logit * 1.1;
    const auto penalised = static_cast<float>(ratio - (0.3 + 0.7 * 2));
    const auto expected = static_cast<float>(static_cast<double>(penalised) + 0.1);
    told_apart += static_cast<float>(ratio - (0.3 + 0.7 * 2) + 0.1) != expected;
    const SamplingSettings settings{.repetition_penalty = 1.1,
                                    .presence_penalty = 0.3,
                                    .frequency_penalty = 0.7,
                                    .logit_bias = {{id, 0.1}}};
    EXPECT_EQ(edited(settings, row, {}, {id, id})[static_cast<size_t>(id)], expected) << id;
  }
  EXPECT_GT(told_apart, 10);
}

TEST(RowEdit, NothingBecomesInfiniteOrNaN) {
  const std::vector<float> row = {kLargest, -kLargest, -kInfinity, 1e-45f};
  const SamplingSettings strong{.repetition_penalty = 100.0,
                                .presence_penalty = -100.0,
                                .frequency_penalty = -100.0,
                                .logit_bias = {{0, 100.0}, {1, -100.0}, {2, 100.0}}};
  for (const double repetition : {1e-300, 0.01, 100.0}) {
    SamplingSettings settings = strong;
    settings.repetition_penalty = repetition;
    const std::vector<float> result = edited(settings, row, {0, 1, 2, 3}, {0, 1, 2, 3});
    EXPECT_EQ(result[2], -kInfinity);
    for (const size_t id : {0u, 1u, 3u}) EXPECT_TRUE(std::isfinite(result[id])) << id;
  }
}

TEST(RowEdit, MasksAllowedAndBannedLeaveWhatAllOfThemLeave) {
  for (const size_t vocab : {1u, 63u, 64u, 65u, 130u, 1000u}) {
    const std::vector<float> row = normal_row(vocab, 1.0, vocab);
    std::vector<uint64_t> mask(mask_words(vocab), 0);
    std::vector<int32_t> allowed, banned;
    for (size_t id = 0; id < vocab; ++id) {
      if (id % 2 == 0) mask[id / 64] |= uint64_t{1} << id % 64;
      if (id % 3 == 0) allowed.push_back(static_cast<int32_t>(id));
      if (id % 5 == 0) banned.push_back(static_cast<int32_t>(id));
    }
    const std::vector<float> result =
        edited({.banned_tokens = banned, .allowed_tokens = allowed}, row, {}, {}, mask);
    for (size_t id = 0; id < vocab; ++id) {
      const bool left = id % 2 == 0 && id % 3 == 0 && id % 5 != 0;
      ASSERT_EQ(result[id], left ? row[id] : -kInfinity) << vocab << " " << id;
    }
  }
}

}  // namespace
}  // namespace lockstep
