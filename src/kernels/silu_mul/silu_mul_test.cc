#include "kernels/silu_mul/silu_mul.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/silu_mul/reference.h"

namespace lockstep::contract {
namespace {

TEST(SiluMul, IsWithinItsBoundAndARowsBitsAreItsOwn) {
  constexpr int64_t kRows = 8;
  for (int64_t n : {0, 1, 15, 16, 17, 33, 5000}) {
    Random random(1);
    std::vector<float> gate = random.uniforms(kRows * n, -110.0, 30.0);
    const std::vector<float> up = random.normals(kRows * n, 3.0);
    if (n == 17) {
      gate[20] = std::numeric_limits<float>::quiet_NaN();
      gate[40] = std::numeric_limits<float>::infinity();
      gate[60] = -std::numeric_limits<float>::infinity();
    }
    const auto arguments = [&](int64_t begin, int64_t end, float* y) {
      return SiluMulArgs{.gate = gate.data() + begin * n,
                         .up = up.data() + begin * n,
                         .rows = end - begin,
                         .n = n,
                         .y = y};
    };
    const auto run = [&](const CpuContext& context, int64_t begin, int64_t end) {
      Guarded y((end - begin) * n);
      run_silu_mul(context, arguments(begin, end, y.data()));
      EXPECT_EQ(y.check(), "");
      return y.copy();
    };
    const Case test{"silu_mul", {kRows, n}, 1};
    EXPECT_EQ(compare_row_splits(test, run), "");
    std::vector<double> want(gate.size()), bound;
    reference_silu_mul(arguments(0, kRows, nullptr), want.data());
    for (size_t i = 0; i < want.size(); ++i) bound.push_back(silu_mul_error(want[i], up[i]));
    EXPECT_EQ(compare_within(test, run(default_context(), 0, kRows), want, bound), "");
  }
}

TEST(SiluMul, MayWriteOverItsInputs) {
  const std::vector<float> gate = Random(2).normals(100), up = Random(3).normals(100);
  std::vector<float> want(100), over_gate = gate, over_up = up;
  SiluMulArgs args{.gate = gate.data(), .up = up.data(), .rows = 1, .n = 100, .y = want.data()};
  run_silu_mul(default_context(), args);
  args.gate = args.y = over_gate.data();
  run_silu_mul(default_context(), args);
  args.gate = gate.data();
  args.up = args.y = over_up.data();
  run_silu_mul(default_context(), args);
  EXPECT_EQ(over_gate, want);
  EXPECT_EQ(over_up, want);
}

}  // namespace
}  // namespace lockstep::contract
