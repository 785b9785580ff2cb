#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"

namespace lockstep::contract {
namespace {

const Case kCase{"op", {2, 2}, 7};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Compare, BitsNameTheFirstBadCoordinate) {
  const std::vector<float> want{1.0f, 2.0f, kNan, -0.0f};
  EXPECT_EQ(compare_bits(kCase, std::vector<float>{1.0f, 2.0f, -kNan, -0.0f}, want), "");
  EXPECT_EQ(compare_bits(kCase, std::vector<float>{1.0f, 2.0f, kNan, 0.0f}, want),
            "op of shape [2, 2], seed 7: at [1, 1] got 0 (0x00000000), want -0 (0x80000000): 0 ulp "
            "apart");
  EXPECT_NE(
      compare_bits(kCase, std::vector<float>{1.0f, std::nextafter(2.0f, 3.0f), kNan, -0.0f}, want),
      "");
  EXPECT_NE(compare_bits(kCase, std::vector<float>{1.0f}, want), "");
}

TEST(Compare, UlpsFollowFloat32) {
  EXPECT_EQ(ulp_at(1.0), 0x1p-23);
  EXPECT_EQ(ulp_at(-3.9), 0x1p-22);
  EXPECT_EQ(ulp_at(0x1p-126), 0x1p-149);
  EXPECT_EQ(ulp_at(0.0), 0x1p-149);
  const std::vector<double> want{1.0, 1e300, -kInfinity, kNan};
  EXPECT_EQ(compare_ulps(kCase, std::vector<float>{1.0f + 0x1p-22f, kInfinity, -kInfinity, kNan},
                         want, 2.0),
            "");
  for (const std::vector<float>& got :
       {std::vector<float>{1.0f + 0x1.8p-22f, kInfinity, -kInfinity, kNan},
        std::vector<float>{1.0f, kInfinity, kInfinity, kNan},
        std::vector<float>{1.0f, kInfinity, -kInfinity, 0.0f},
        std::vector<float>{kNan, kInfinity, -kInfinity, kNan}}) {
    EXPECT_NE(compare_ulps(kCase, got, want, 2.0), "");
  }
}

TEST(Compare, NormsAreTakenRowByRow) {
  const std::vector<double> want{1e6, 1e6, 1.0, 1.0};
  EXPECT_EQ(compare_norms(kCase, std::vector<float>{1e6f, 1e6f, 1.0f, 1.001f}, want, 1e-3), "");
  EXPECT_NE(compare_norms(kCase, std::vector<float>{1e6f, 1e6f, 1.0f, 1.01f}, want, 1e-3), "");
  EXPECT_NE(compare_norms(kCase, std::vector<float>{1e6f, 1e6f, 1.0f, kNan}, want, 1e-3), "");
}

TEST(Guarded, SeesWritesOutsideAndMissingWrites) {
  Guarded output(3);
  EXPECT_EQ(output.check(), "no write at index 0");
  for (int i = 0; i < 3; ++i) output.data()[i] = 0.0f;
  EXPECT_EQ(output.check(), "");
  output.data()[3] = 0.0f;
  EXPECT_EQ(output.check(), "a write outside, at index 3");
}

TEST(Contexts, SeeAnIsaOrThreadCountThatDiffers) {
  const Case test{"op", {1}, 0};
  EXPECT_EQ(compare_contexts(test, [](const CpuContext&) { return std::vector<float>{1.0f}; }), "");
  EXPECT_NE(compare_contexts(test,
                             [](const CpuContext& context) {
                               return std::vector<float>{context.pool.threads() == 3 ? 1.0f : 2.0f};
                             }),
            "");
}

TEST(Random, IsSeededAndOfUnitVariance) {
  EXPECT_EQ(Random(1).bits(), Random(1).bits());
  EXPECT_NE(Random(1).bits(), Random(2).bits());
  Random random(3);
  double sum = 0.0, squares = 0.0;
  for (float x : random.normals(20000)) {
    sum += x;
    squares += static_cast<double>(x) * x;
  }
  EXPECT_NEAR(sum / 20000, 0.0, 0.03);
  EXPECT_NEAR(squares / 20000, 1.0, 0.05);
}

}  // namespace
}  // namespace lockstep::contract
