#include "formats/block_quantiser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "formats/matrix.h"

namespace lockstep {
namespace {

constexpr BlockType kWritten[] = {BlockType::kQ8_0, BlockType::kQ4_0, BlockType::kQ4_K};

struct Quantised {
  bool ok = false;
  std::vector<std::byte> bytes;
  std::vector<float> values;
};

Quantised quantise(const std::vector<float>& row, BlockType type) {
  MatrixView view{.encoding = Encoding::kBlocks,
                  .block = type,
                  .rows = 1,
                  .cols = static_cast<int64_t>(row.size())};
  Quantised out;
  out.bytes.resize(view.row_bytes());
  out.ok = quantise_block_row(row, type, out.bytes.data());
  out.values.resize(row.size());
  view.data = out.bytes.data();
  decode_row(view, 0, out.values.data());
  return out;
}

std::vector<float> normal_row(size_t count, float centre, float spread) {
  std::mt19937 random(7);
  std::normal_distribution<float> values(centre, spread);
  std::vector<float> row(count);
  for (float& value : row) value = values(random);
  return row;
}

double relative_error(const std::vector<float>& got, const std::vector<float>& want) {
  double error = 0.0, size = 0.0;
  for (size_t i = 0; i < want.size(); ++i) {
    error += std::pow(static_cast<double>(got[i]) - want[i], 2);
    size += std::pow(static_cast<double>(want[i]), 2);
  }
  return std::sqrt(error / size);
}

// Half a step of A / 127, and the rounding of the scale: 127 steps of 2^-11 / 127 each.
TEST(BlockQuantiser, Q8_0StaysWithinHalfAStep) {
  const std::vector<float> row = normal_row(4096, 0.3f, 1.0f);
  const Quantised out = quantise(row, BlockType::kQ8_0);
  ASSERT_TRUE(out.ok);
  for (size_t begin = 0; begin < row.size(); begin += 32) {
    float most = 0.0f;
    for (size_t i = begin; i < begin + 32; ++i) most = std::max(most, std::fabs(row[i]));
    for (size_t i = begin; i < begin + 32; ++i) {
      ASSERT_LE(std::fabs(out.values[i] - row[i]), most * (1.0f / 254 + 0x1p-11f)) << i;
    }
  }
}

// A step of A / 8 with rounding to nearest has a root mean square error of A / (8 sqrt 12), and the
// largest of 32 normal values is about 2.4 deviations from 0: 0.087. Least squares gains a little.
// Q4_K: 32 values span about 4.1 deviations, in 15 steps: 0.079.
TEST(BlockQuantiser, ErrorsAreThoseOfTheStep) {
  const std::vector<float> row = normal_row(1 << 15, 0.0f, 0.02f);
  EXPECT_NEAR(relative_error(quantise(row, BlockType::kQ4_0).values, row), 0.083, 0.004);
  EXPECT_NEAR(relative_error(quantise(row, BlockType::kQ4_K).values, row), 0.074, 0.005);
  // Away from 0, only Q4_K gains: 4.1 deviations of 0.1 around 1.
  const std::vector<float> shifted = normal_row(1 << 15, -1.0f, 0.1f);
  EXPECT_LT(relative_error(quantise(shifted, BlockType::kQ4_K).values, shifted), 0.012);
  EXPECT_GT(relative_error(quantise(shifted, BlockType::kQ4_0).values, shifted), 0.02);
}

TEST(BlockQuantiser, KeepsWhatTheFormatCanSay) {
  for (const BlockType type : kWritten) {
    std::vector<float> row(512, 0.0f);
    EXPECT_EQ(quantise(row, type).values, row) << to_string(type);
    // Every multiple of a step that has a place, in a shuffled order, so that no two agree.
    const int most = type == BlockType::kQ8_0 ? 127 : 7;
    const int least = type == BlockType::kQ8_0 ? -127 : -8;
    for (size_t i = 0; i < row.size(); ++i) {
      const auto step = static_cast<int>(i * 37 % static_cast<size_t>(most - least + 1));
      row[i] = 0.5f * static_cast<float>(least + step);
      if (i % 32 == 5) row[i] = 0.5f * static_cast<float>(least);
      if (i % 32 == 6) row[i] = 0.5f * static_cast<float>(most);
    }
    // Q4_K's minimum is a multiple of its unit only up to binary16: 2^-11 of 4.
    const Quantised out = quantise(row, type);
    for (size_t i = 0; i < row.size(); ++i) {
      ASSERT_NEAR(out.values[i], row[i], type == BlockType::kQ4_K ? 0.004 : 0.0)
          << to_string(type) << ", element " << i;
    }
  }
}

TEST(BlockQuantiser, TakesEitherSignAlone) {
  for (const BlockType type : kWritten) {
    for (const float centre : {-3.0f, 3.0f}) {
      const std::vector<float> row = normal_row(512, centre, 0.5f);
      const Quantised out = quantise(row, type);
      ASSERT_TRUE(out.ok);
      EXPECT_LT(relative_error(out.values, row), 0.09) << to_string(type) << " around " << centre;
    }
  }
}

TEST(BlockQuantiser, RefusesWhatNoScaleHolds) {
  for (const BlockType type : kWritten) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -INFINITY, 1e9f, -1e9f}) {
      std::vector<float> row(256, 0.25f);
      row[77] = bad;
      EXPECT_FALSE(quantise(row, type).ok) << to_string(type) << ", " << bad;
    }
    // Below the smallest binary16 nothing is left, and that is no error.
    const std::vector<float> tiny(256, 1e-12f);
    EXPECT_TRUE(quantise(tiny, type).ok);
    EXPECT_EQ(quantise(tiny, type).values, std::vector<float>(256, 0.0f)) << to_string(type);
  }
}

}  // namespace
}  // namespace lockstep
