#include "kernels/moe_combine/moe_combine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/float16.h"
#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/moe_combine/reference.h"

namespace lockstep::contract {
namespace {

constexpr int64_t kRows = 8;

struct Inputs {
  std::vector<float> down, weights, shared, gate;
  int64_t chosen, n;

  Inputs(int64_t slots, int64_t size) : chosen(slots), n(size) {
    Random random(1);
    down = random.normals(kRows * chosen * n);
    weights = random.uniforms(kRows * chosen, 0.0, 0.5);
    shared = random.normals(kRows * n);
    gate = random.normals(kRows, 4.0);
  }
  MoeCombineArgs args(int64_t begin, int64_t end, float* y) const {
    return {.down = down.data() + begin * chosen * n,
            .weights = weights.data() + begin * chosen,
            .shared = shared.data() + begin * n,
            .gate = gate.data() + begin,
            .rows = end - begin,
            .chosen = chosen,
            .n = n,
            .y = y};
  }
};

std::vector<float> run(const CpuContext& context, const Inputs& in, int64_t begin, int64_t end) {
  Guarded y((end - begin) * in.n);
  run_moe_combine(context, in.args(begin, end, y.data()));
  EXPECT_EQ(y.check(), "");
  return y.copy();
}

TEST(MoeCombine, IsWithinItsBoundAndARowsBitsAreItsOwn) {
  for (int64_t chosen : {1, 4, 8, 10}) {
    for (int64_t n : {0, 1, 15, 16, 17, 33, 2048}) {
      const Inputs in(chosen, n);
      const Case test{"moe_combine", {kRows, n}, 1};
      EXPECT_EQ(compare_row_splits(test, [&](const CpuContext& context, int64_t begin,
                                             int64_t end) { return run(context, in, begin, end); }),
                "");
      std::vector<double> want(in.shared.size()), bound(in.shared.size());
      reference_moe_combine(in.args(0, kRows, nullptr), want.data(), bound.data());
      EXPECT_EQ(compare_within(test, run(default_context(), in, 0, kRows), want, bound), "");
    }
  }
}

// Experts that cancel: a sum kept in bf16 misses the bound a hundredfold, and so would another
// order of the slots differ in bits.
TEST(MoeCombine, CancellingExpertsKeepFloat32) {
  Inputs in(4, 16);
  in.weights.assign(in.weights.size(), 1.0f);
  for (int64_t i = 0; i < 16; ++i) {
    in.down[static_cast<size_t>(i)] = 1.0f;
    in.down[static_cast<size_t>(16 + i)] = 0x1.8p-12f * static_cast<float>(i + 1);
    in.down[static_cast<size_t>(32 + i)] = -1.0f;
    in.down[static_cast<size_t>(48 + i)] = 0x1p-30f;
    in.shared[static_cast<size_t>(i)] = 0.0f;
  }
  std::vector<double> want(in.shared.size()), bound(in.shared.size());
  reference_moe_combine(in.args(0, kRows, nullptr), want.data(), bound.data());
  const std::vector<float> got = run(default_context(), in, 0, 1);
  for (size_t i = 0; i < 16; ++i) EXPECT_LE(std::fabs(got[i] - want[i]), bound[i]);
  float twin = 0.0f;
  for (size_t j = 0; j < 4; ++j) twin = bf16_to_float(float_to_bf16(twin + in.down[16 * j]));
  EXPECT_GE(std::fabs(twin - want[0]), 100.0 * bound[0]);
}

// The gate is far enough up that its sigmoid is 1.
TEST(MoeCombine, AddsTheSlotsInOrderThenTheSharedExpert) {
  Inputs in(8, 100);
  in.gate.assign(in.gate.size(), 40.0f);
  std::vector<float> want;
  for (size_t i = 0; i < static_cast<size_t>(kRows * 100); ++i) {
    const size_t row = i / 100;
    float sum = 0.0f;
    for (size_t slot = row * 8; slot < row * 8 + 8; ++slot) {
      sum = std::fma(in.weights[slot], in.down[slot * 100 + i % 100], sum);
    }
    want.push_back(in.shared[i] + sum);
  }
  EXPECT_EQ(
      compare_bits({"moe_combine", {kRows, 100}, 1}, run(default_context(), in, 0, kRows), want),
      "");
}

TEST(MoeCombine, NanStaysInItsRow) {
  Inputs in(4, 20);
  const std::vector<float> want = run(default_context(), in, 0, kRows);
  in.weights[3 * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
  in.gate[5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> got = run(default_context(), in, 0, kRows);
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(i / 20 == 3 || i / 20 == 5 ? std::isnan(got[i]) : got[i] == want[i]) << i;
  }
}

TEST(MoeCombine, MayWriteOverTheSharedExpert) {
  Inputs in(4, 33);
  const std::vector<float> want = run(default_context(), in, 0, kRows);
  run_moe_combine(default_context(), in.args(0, kRows, in.shared.data()));
  EXPECT_EQ(in.shared, want);
}

}  // namespace
}  // namespace lockstep::contract
