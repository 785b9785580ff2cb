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

}  // namespace
}  // namespace lockstep::contract
