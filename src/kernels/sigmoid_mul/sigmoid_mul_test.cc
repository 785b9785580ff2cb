#include "kernels/sigmoid_mul/sigmoid_mul.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/sigmoid_mul/reference.h"

namespace lockstep::contract {
namespace {

TEST(SigmoidMul, IsWithinItsBoundAndARowsBitsAreItsOwn) {
  constexpr int64_t kRows = 8;
  for (int64_t n : {0, 1, 15, 16, 17, 33, 256}) {
    Random random(1);
    std::vector<float> x = random.normals(kRows * n, 3.0);
    std::vector<float> gates = random.uniforms(kRows * 2 * n, -110.0, 30.0);
    if (n == 17) {
      gates[30] = std::numeric_limits<float>::quiet_NaN();
      gates[34 * 2 + 17] = std::numeric_limits<float>::infinity();
      gates[34 * 3 + 17] = -std::numeric_limits<float>::infinity();
      x[17 * 5] = std::numeric_limits<float>::quiet_NaN();
    }
    // Each gate row stands behind n other values, as in the output of q_proj.
    const auto arguments = [&](int64_t begin, int64_t end, float* values) {
      return SigmoidMulArgs{.x = values,
                            .gate = gates.data() + begin * 2 * n + n,
                            .gate_stride = 2 * n,
                            .rows = end - begin,
                            .n = n};
    };
    const auto run = [&](const CpuContext& context, int64_t begin, int64_t end) {
      Guarded y((end - begin) * n, std::span(x).subspan(static_cast<size_t>(begin * n),
                                                        static_cast<size_t>((end - begin) * n)));
      run_sigmoid_mul(context, arguments(begin, end, y.data()));
      EXPECT_EQ(y.check(), "");
      return y.copy();
    };
    const Case test{"sigmoid_mul", {kRows, n}, 1};
    EXPECT_EQ(compare_row_splits(test, run), "");
    std::vector<double> want(x.size()), bound;
    reference_sigmoid_mul(arguments(0, kRows, x.data()), want.data());
    for (size_t i = 0; i < want.size(); ++i) bound.push_back(sigmoid_mul_error(want[i], x[i]));
    EXPECT_EQ(compare_within(test, run(default_context(), 0, kRows), want, bound), "");
  }
}

}  // namespace
}  // namespace lockstep::contract
