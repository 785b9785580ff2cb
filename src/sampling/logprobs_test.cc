#include "sampling/logprobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sampling/test_rows.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Logprobs, EqualALongDoubleLogSoftmax) {
  for (const size_t size : {1u, 2u, 100u, 12288u, 248320u}) {
    for (const double spread : {0.001, 2.0, 30.0}) {
      const std::vector<float> row = normal_row(size, spread, size);
      float highest = row[0];
      for (const float logit : row) highest = std::max(highest, logit);
      long double sum = 0.0L;
      for (const float logit : row) sum += std::exp(static_cast<long double>(logit) - highest);
      const auto chosen = static_cast<int32_t>(size / 2);
      const auto exact =
          static_cast<double>(static_cast<long double>(row[size / 2]) - highest - std::log(sum));
      const Logprobs result = log_probabilities(row, chosen, 20).value();
      EXPECT_EQ(result.chosen.id, chosen);
      EXPECT_NEAR(result.chosen.logprob, exact, 1e-8) << size << " " << spread;
      EXPECT_EQ(result.top.size(), std::min<size_t>(20, size));
    }
  }
}

TEST(Logprobs, TopIsInOrderWithTiesToTheLowerId) {
  const std::vector<float> row = {0.0f, 1.0f, -kInfinity, 1.0f, 0.5f};
  const Logprobs result = log_probabilities(row, 2, 20).value();
  EXPECT_EQ(result.chosen.logprob, -std::numeric_limits<double>::infinity());
  std::vector<int32_t> ids;
  double sum = 0.0;
  for (const TokenLogprob& entry : result.top) {
    ids.push_back(entry.id);
    sum += std::exp(entry.logprob);
  }
  EXPECT_EQ(ids, (std::vector<int32_t>{1, 3, 4, 0}));
  EXPECT_NEAR(sum, 1.0, 1e-12);
  EXPECT_TRUE(log_probabilities(row, 1, 0).value().top.empty());
}

TEST(Logprobs, RefuseNonFiniteRows) {
  std::vector<float> row(10, 0.0f);
  row[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(log_probabilities(row, 0, 1).error().code, ErrorCode::kNumeric);
}

}  // namespace
}  // namespace lockstep
