#include "checkpoint/synth/random_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/matrix.h"

namespace lockstep {
namespace {

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
};

Moments moments(const std::vector<float>& values) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(values.size());
  return {sum / count, std::sqrt(squares / count - sum / count * (sum / count))};
}

TEST(RandomValues, KeysDifferBySeedAndName) {
  std::vector<uint64_t> keys;
  for (const uint64_t seed : {0u, 1u, 2u}) {
    for (const char* name : {"", "a", "b", "ab", "ba", "aa"})
      keys.push_back(tensor_key(seed, name));
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(RandomValues, NormalValuesHaveTheirSpread) {
  std::vector<float> values(1 << 16);
  fill_values({.spread = 0.25f}, tensor_key(1, "x"), 0, 1 << 16, values);
  const Moments found = moments(values);
  EXPECT_NEAR(found.mean, 0.0, 0.004);
  EXPECT_NEAR(found.deviation, 0.25, 0.004);
  const auto beyond = std::count_if(values.begin(), values.end(),
                                    [](float value) { return std::fabs(value) > 0.5f; });
  EXPECT_NEAR(static_cast<double>(beyond) / (1 << 16), 0.044, 0.006);  // two deviations
}

TEST(RandomValues, AnElementIsTheSameHoweverItIsReached) {
  for (const Distribution distribution : {Distribution::kNormal, Distribution::kNorm,
                                          Distribution::kRange, Distribution::kLowRange}) {
    const Fill fill = {distribution, -1.0f, 2.0f};
    std::vector<float> whole(100);
    fill_values(fill, 77, 0, 100, whole);
    for (int64_t begin = 0; begin < 100; begin += 7) {
      std::vector<float> part(static_cast<size_t>(std::min<int64_t>(7, 100 - begin)));
      fill_values(fill, 77, begin, 100, part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + begin));
    }
  }
}

// Even two heads get one fast and one slow decay.
TEST(RandomValues, RangesAreCoveredByAnyNumberOfElements) {
  for (const int64_t count : {1, 2, 4, 6, 16, 32, 48, 128}) {
    std::vector<float> values(static_cast<size_t>(count));
    fill_values({Distribution::kRange, 10.0f, 4.0f}, tensor_key(3, "A_log"), 0, count, values);
    std::sort(values.begin(), values.end());
    for (size_t i = 0; i < values.size(); ++i) {
      const float part = 4.0f / static_cast<float>(count);
      EXPECT_GE(values[i], 10.0f + part * static_cast<float>(i)) << count;
      EXPECT_LE(values[i], 10.0f + part * static_cast<float>(i + 1)) << count;
    }
  }
}

TEST(RandomValues, NormWeightsAreExactInBf16WithAndWithoutOne) {
  std::vector<float> values(500);
  fill_values({Distribution::kNorm, 0.9f, 0.1f}, 5, 0, 500, values);
  for (const float value : values) {
    EXPECT_EQ(value * 64.0f, std::rint(value * 64.0f));
    EXPECT_LT(std::fabs(value - 0.9f), 0.4f);
  }
}

TEST(RandomValues, FourBitRowsDecodeToTheWantedSpread) {
  constexpr int64_t kCols = 1024;
  constexpr int64_t kRows = 64;
  for (const int group : {32, 64, 128}) {
    const AffineFormat format = {4, group, DType::kBF16};
    std::vector<std::byte> packed(kCols / 2), scales(kCols), biases(kCols);
    std::vector<float> values, row(kCols);
    std::vector<uint8_t> q(kCols);
    int64_t counts[16] = {};
    int64_t negative_scales = 0;
    for (int64_t r = 0; r < kRows; ++r) {
      fill_affine4_row(0.03f, tensor_key(0, "w"), r, kCols, format, packed.data(), scales.data(),
                       biases.data());
      const MatrixView view{.encoding = Encoding::kAffine,
                            .dtype = DType::kBF16,
                            .bits = 4,
                            .group = group,
                            .rows = 1,
                            .cols = kCols,
                            .data = packed.data(),
                            .scales = scales.data(),
                            .biases = biases.data()};
      decode_row(view, 0, row.data());
      unpack_row(view, 0, q.data());
      values.insert(values.end(), row.begin(), row.end());
      for (const uint8_t value : q) ++counts[value];
      for (int64_t g = 0; g < kCols / group; ++g) {
        negative_scales +=
            (scales[static_cast<size_t>(2 * g + 1)] & std::byte{0x80}) != std::byte{};
      }
    }
    const Moments found = moments(values);
    EXPECT_NEAR(found.mean, 0.0, 0.0006);
    EXPECT_NEAR(found.deviation, 0.03, 0.001);
    EXPECT_NEAR(static_cast<double>(negative_scales) / (kRows * kCols / group), 0.5, 0.08);
    EXPECT_GT(counts[0], 0);
    for (int level = 0; level < 7; ++level) EXPECT_LT(counts[level], counts[level + 1]) << level;
    for (int level = 8; level < 15; ++level) EXPECT_GT(counts[level], counts[level + 1]) << level;
    EXPECT_GT(counts[15], 0);
  }
}

}  // namespace
}  // namespace lockstep
