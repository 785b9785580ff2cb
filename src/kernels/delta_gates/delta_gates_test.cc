#include "kernels/delta_gates/delta_gates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/delta_gates/reference.h"

namespace lockstep::contract {
namespace {

constexpr int64_t kRows = 8;

struct Inputs {
  std::vector<float> a, b, negative_a, dt_bias;
  int64_t heads;

  // The ranges of real models, where g goes from -316 to 0.
  explicit Inputs(int64_t count) : heads(count) {
    Random random(1);
    a = random.normals(kRows * heads, 6.0);
    b = random.normals(kRows * heads, 10.0);
    negative_a = random.uniforms(heads, -12.0, 0.0);
    dt_bias = random.uniforms(heads, -6.0, 20.0);
  }
  DeltaGatesArgs args(int64_t begin, int64_t end, float* decay, float* beta) const {
    return {.a = a.data() + begin * heads,
            .b = b.data() + begin * heads,
            .negative_a = negative_a.data(),
            .dt_bias = dt_bias.data(),
            .rows = end - begin,
            .heads = heads,
            .decay = decay,
            .beta = beta};
  }
};

// [rows, 2, heads]: decay, then beta.
std::vector<float> run(const CpuContext& context, const Inputs& in, int64_t begin, int64_t end) {
  Guarded decay((end - begin) * in.heads), beta((end - begin) * in.heads);
  run_delta_gates(context, in.args(begin, end, decay.data(), beta.data()));
  EXPECT_EQ(decay.check(), "");
  EXPECT_EQ(beta.check(), "");
  std::vector<float> both;
  for (int64_t row = 0; row < end - begin; ++row) {
    for (const Guarded* part : {&decay, &beta}) {
      const auto values = part->values().subspan(static_cast<size_t>(row * in.heads),
                                                 static_cast<size_t>(in.heads));
      both.insert(both.end(), values.begin(), values.end());
    }
  }
  return both;
}

TEST(DeltaGates, ReachTheirLimitsAndKeepNan) {
  Inputs in(4);
  in.negative_a.assign(4, -20.0f);
  in.dt_bias.assign(4, 0.0f);
  const float infinity = std::numeric_limits<float>::infinity();
  in.a = {100.0f, -200.0f, infinity, std::numeric_limits<float>::quiet_NaN()};
  in.b = {-infinity, infinity, std::numeric_limits<float>::quiet_NaN(), 0.0f};
  const std::vector<float> got = run(default_context(), in, 0, 1);
  EXPECT_EQ(got[0], 0.0f);
  EXPECT_EQ(got[1], 1.0f);
  EXPECT_EQ(got[2], 0.0f);
  EXPECT_TRUE(std::isnan(got[3]));
  EXPECT_EQ(got[4], 0.0f);
  EXPECT_EQ(got[5], 1.0f);
  EXPECT_TRUE(std::isnan(got[6]));
  EXPECT_EQ(got[7], 0.5f);
}

}  // namespace
}  // namespace lockstep::contract
