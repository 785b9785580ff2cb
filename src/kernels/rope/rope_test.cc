#include "kernels/rope/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/rope/reference.h"

namespace lockstep::contract {
namespace {

constexpr int64_t kRows = 8;
constexpr int64_t kHeads = 3;

struct Inputs {
  std::vector<float> x, cos, sin;
  int64_t head_dim, rotary;

  Inputs(int64_t head, int64_t rotated) : head_dim(head), rotary(rotated) {
    Random random(1);
    x = random.normals(kRows * kHeads * head_dim);
    cos = random.uniforms(kRows * rotary / 2, -1.0, 1.0);
    sin = random.uniforms(kRows * rotary / 2, -1.0, 1.0);
  }
  RopeArgs args(int64_t begin, int64_t end, float* values) const {
    return {.x = values,
            .rows = end - begin,
            .heads = kHeads,
            .head_dim = head_dim,
            .rotary_dim = rotary,
            .cos = cos.data() + begin * rotary / 2,
            .sin = sin.data() + begin * rotary / 2};
  }
};

std::vector<float> run(const CpuContext& context, const Inputs& in, int64_t begin, int64_t end) {
  const int64_t width = kHeads * in.head_dim;
  Guarded y((end - begin) * width,
            std::span(in.x).subspan(static_cast<size_t>(begin * width),
                                    static_cast<size_t>((end - begin) * width)));
  run_rope(context, in.args(begin, end, y.data()));
  EXPECT_EQ(y.check(), "");
  return y.copy();
}

TEST(Rope, NanStaysInItsPair) {
  Inputs in(64, 64);
  const std::vector<float> want = run(default_context(), in, 0, kRows);
  in.x[5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> got = run(default_context(), in, 0, kRows);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(i == 5 || i == 37 ? std::isnan(got[i]) : got[i] == want[i]) << i;
  }
}

TEST(RopeFrequencies, AreTheRoundedPowers) {
  for (int64_t rotary : {2, 16, 64, 128, 256}) {
    const std::vector<float> frequencies = rope_frequencies(1e7, rotary);
    ASSERT_EQ(frequencies.size(), static_cast<size_t>(rotary / 2));
    for (size_t i = 0; i < frequencies.size(); ++i) {
      const long double exponent =
          -2.0L * static_cast<long double>(i) / static_cast<long double>(rotary);
      EXPECT_EQ(frequencies[i], static_cast<float>(std::pow(1e7L, exponent)));
    }
  }
}

TEST(RopeTable, IsTheRoundedFunctionOfTheFloatAngle) {
  const std::vector<float> frequencies = rope_frequencies(1e7, 64);
  float cos[32], sin[32];
  for (int32_t position : {0, 1, 2, 1000, 65537, 262143, 1010000}) {
    rope_table(frequencies, {11, 11, 10}, 1.0f, {position, position, position}, cos, sin);
    for (size_t i = 0; i < 32; ++i) {
      const float angle = static_cast<float>(position) * frequencies[i];
      EXPECT_EQ(cos[i], static_cast<float>(std::cos(static_cast<long double>(angle))));
      EXPECT_EQ(sin[i], static_cast<float>(std::sin(static_cast<long double>(angle))));
    }
  }
}

TEST(RopeTable, InterleavesThreeAxesAndScales) {
  const std::vector<float> frequencies(32, 1.0f);
  float cos[32], sin[32];
  rope_table(frequencies, {11, 11, 10}, 2.0f, {1, 2, 3}, cos, sin);
  std::string axes;
  for (float c : cos) {
    axes += c == 2.0f * std::cos(1.0f) ? 'T' : c == 2.0f * std::cos(2.0f) ? 'H' : 'W';
  }
  EXPECT_EQ(axes, "THWTHWTHWTHWTHWTHWTHWTHWTHWTHWTH");
}

}  // namespace
}  // namespace lockstep::contract
