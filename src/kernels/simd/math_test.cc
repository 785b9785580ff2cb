// Every 4,099th float32 pattern, and every pattern near the points where a formula changes: error
// against float64 and equal bits on all instruction sets.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/float16.h"
#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/rounding.h"
#include "kernels/simd/probe.h"

namespace lockstep::contract {
namespace {

std::vector<float> sweep() {
  std::vector<float> values;
  for (uint64_t bits = 0; bits <= 0xffffffffu; bits += 4099) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (float center : {0.0f, 0.34657359f, 0.6931472f, 0.8813736f, 1.0f, 16.6f, 20.0f, 87.33655f,
                       88.0f, 88.72284f, 103.2789f, 103.97208f, 104.0f, 0x1p-126f,
                       std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()}) {
    const auto bits = static_cast<int64_t>(std::bit_cast<uint32_t>(center));
    for (int64_t i = std::max<int64_t>(0, bits - 3000); i < bits + 3000; ++i) {
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>(i)));
      values.push_back(-values.back());
    }
  }
  return values;
}

std::vector<float> run(const CpuContext& context, SimdFunction function,
                       const std::vector<float>& x) {
  std::vector<float> y(x.size());
  run_simd_probe(
      context,
      {.function = function, .x = x.data(), .n = static_cast<int64_t>(x.size()), .y = y.data()});
  return y;
}

// `relative` roundings of the exact value, plus `absolute` and half a step of the subnormals.
template <typename Exact>
void expect_error(SimdFunction function, const char* name, const Exact& exact, double relative,
                  double absolute) {
  const std::vector<float> x = sweep();
  const std::vector<float> y = run(default_context(), function, x);
  std::vector<double> want(x.size()), bound(x.size());
  double worst = 0.0;
  for (size_t i = 0; i < x.size(); ++i) {
    want[i] = exact(static_cast<double>(x[i]));
    bound[i] = roundings(relative) * std::fabs(want[i]) + absolute + kTiny;
    if (std::fabs(want[i]) > 0x1p-120 && std::isfinite(want[i]) && std::isfinite(y[i])) {
      worst = std::fmax(worst, std::fabs(y[i] - want[i]) / std::fabs(want[i]) / kRounding);
    }
  }
  const Case test{name, {static_cast<int64_t>(x.size())}, 0};
  EXPECT_EQ(compare_within(test, y, want, bound), "");
  EXPECT_LE(worst, relative) << name;
  EXPECT_EQ(compare_contexts(test, [&](const CpuContext& c) { return run(c, function, x); }), "");
  std::printf("clause %s: worst error %.3f of %.3f roundings\n", name, worst, relative);
}

double exact_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

TEST(SimdMath, Exp) {
  expect_error(SimdFunction::kExp, "exp", [](double x) { return std::exp(x); }, kExpRoundings, 0.0);
}

TEST(SimdMath, Sigmoid) {
  expect_error(SimdFunction::kSigmoid, "sigmoid", exact_sigmoid, kSigmoidRoundings, kSigmoidFloor);
}

TEST(SimdMath, Silu) {
  expect_error(
      SimdFunction::kSilu, "silu", [](double x) { return x / (1.0 + std::exp(-x)); },
      kSiluRoundings, 128.0 * kSigmoidFloor);
}

TEST(SimdMath, Softplus) {
  expect_error(
      SimdFunction::kSoftplus, "softplus",
      [](double x) { return x != x ? x : std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); },
      kSoftplusRoundings, kTiny);  // two roundings of subnormals
}

TEST(SimdMath, RoundToBf16IsTheScalarRounding) {
  const std::vector<float> x = sweep();
  std::vector<float> want;
  for (float value : x) want.push_back(bf16_to_float(float_to_bf16(value)));
  for_each_context([&](const CpuContext& context, const std::string& name) {
    const std::vector<float> y = run(context, SimdFunction::kRoundToBf16, x);
    EXPECT_EQ(compare_bits({"round_to_bf16", {static_cast<int64_t>(x.size())}, 0}, y, want), "")
        << name;
  });
}

}  // namespace
}  // namespace lockstep::contract
