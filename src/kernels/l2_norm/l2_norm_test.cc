#include "kernels/l2_norm/l2_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/l2_norm/reference.h"

namespace lockstep::contract {
namespace {

constexpr int64_t kRows = 8;
constexpr int64_t kHeads = 3;
constexpr float kScale = 0.088388346f;

L2NormArgs arguments(float* x, int64_t rows, int64_t n) {
  return {.x = x, .rows = rows, .stride = kHeads * n + 5, .heads = kHeads, .n = n, .scale = kScale};
}

std::vector<float> run(const CpuContext& context, const std::vector<float>& x, int64_t n,
                       int64_t begin, int64_t end) {
  const int64_t stride = kHeads * n + 5;
  Guarded y((end - begin) * stride,
            std::span(x).subspan(static_cast<size_t>(begin * stride),
                                 static_cast<size_t>((end - begin) * stride)));
  run_l2_norm(context, arguments(y.data(), end - begin, n));
  EXPECT_EQ(y.check(), "");
  return y.copy();
}

TEST(L2Norm, IsWithinItsBoundAndARowsBitsAreItsOwn) {
  for (int64_t n : {0, 1, 15, 16, 17, 64, 128, 255}) {
    for (double scale : {1e-18, 1e-4, 1.0, 1e12}) {
      Random random(1);
      std::vector<float> x = random.normals(kRows * (kHeads * n + 5), scale);
      const Case test{"l2_norm", {kRows, kHeads * n + 5}, 1};
      EXPECT_EQ(
          compare_row_splits(test, [&](const CpuContext& context, int64_t begin,
                                       int64_t end) { return run(context, x, n, begin, end); }),
          "");
      std::vector<double> heads(static_cast<size_t>(kRows * kHeads * n)), want, bound;
      reference_l2_norm(arguments(x.data(), kRows, n), heads.data());
      for (int64_t i = 0; i < kRows * (kHeads * n + 5); ++i) {
        const int64_t row = i / (kHeads * n + 5), column = i % (kHeads * n + 5);
        const bool touched = column < kHeads * n;  // the rest of the row stays as it is
        want.push_back(touched ? heads[static_cast<size_t>(row * kHeads * n + column)]
                               : x[static_cast<size_t>(i)]);
        bound.push_back(touched ? l2_norm_error(n) * std::fabs(want.back()) + kTiny : 0.0);
      }
      EXPECT_EQ(compare_within(test, run(default_context(), x, n, 0, kRows), want, bound), "");
    }
  }
}

TEST(L2Norm, NanStaysInItsHead) {
  std::vector<float> x = Random(2).normals(kRows * (kHeads * 16 + 5));
  const std::vector<float> want = run(default_context(), x, 16, 0, kRows);
  const size_t spoiled = (kHeads * 16 + 5) * 4 + 16;  // row 4, head 1
  x[spoiled + 3] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> got = run(default_context(), x, 16, 0, kRows);
  for (size_t i = 0; i < got.size(); ++i) {
    if (i >= spoiled && i < spoiled + 16) {
      EXPECT_TRUE(std::isnan(got[i]));
    } else {
      EXPECT_EQ(got[i], want[i]);
    }
  }
}

TEST(L2Norm, AZeroHeadStaysZero) {
  const std::vector<float> x(kHeads * 16 + 5, 0.0f);
  EXPECT_EQ(run(default_context(), x, 16, 0, 1), x);
}

}  // namespace
}  // namespace lockstep::contract
