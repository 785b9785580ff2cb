#include "kernels/rms_norm/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/float16.h"
#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/rms_norm/reference.h"

namespace lockstep::contract {
namespace {

constexpr int64_t kSizes[] = {0, 1, 15, 16, 17, 31, 33, 128, 1000, 5120};
constexpr int64_t kRows = 9;
constexpr uint64_t kSeed = 1;

struct Inputs {
  std::vector<float> x, gate, weight;
  int64_t n;

  Inputs(int64_t size, double scale) : n(size) {
    Random random(kSeed);
    x = random.normals(kRows * n, scale);
    gate = random.normals(kRows * n, 4.0);
    weight = random.uniforms(n, -2.0, 2.0);
  }
  RmsNormArgs plain(int64_t begin, int64_t end, float* y) const {
    return {.x = x.data() + begin * n,
            .x_stride = n,
            .weight = weight.data(),
            .eps = 1e-6f,
            .rows = end - begin,
            .n = n,
            .y = y};
  }
  RmsNormGatedArgs gated(int64_t begin, int64_t end, GateFunction function, float* y) const {
    return {.x = x.data() + begin * n,
            .gate = gate.data() + begin * n,
            .weight = weight.data(),
            .function = function,
            .eps = 1e-6f,
            .rows = end - begin,
            .n = n,
            .y = y};
  }
};

std::vector<float> run_plain(const CpuContext& context, const Inputs& in, int64_t begin,
                             int64_t end) {
  Guarded y((end - begin) * in.n);
  run_rms_norm(context, in.plain(begin, end, y.data()));
  EXPECT_EQ(y.check(), "");
  return y.copy();
}

std::vector<float> run_gated(const CpuContext& context, const Inputs& in, GateFunction function,
                             int64_t begin, int64_t end) {
  Guarded y((end - begin) * in.n);
  run_rms_norm_gated(context, in.gated(begin, end, function, y.data()));
  EXPECT_EQ(y.check(), "");
  return y.copy();
}

TEST(RmsNorm, IsWithinItsBoundAndARowsBitsAreItsOwn) {
  for (int64_t n : kSizes) {
    for (double scale : {1e-18, 1e-3, 1.0, 1e4, 1e15}) {
      const Inputs in(n, scale);
      const Case test{"rms_norm", {kRows, n}, kSeed};
      EXPECT_EQ(
          compare_row_splits(test, [&](const CpuContext& context, int64_t begin,
                                       int64_t end) { return run_plain(context, in, begin, end); }),
          "");
      std::vector<double> want(in.x.size()), bound;
      reference_rms_norm(in.plain(0, kRows, nullptr), want.data());
      for (double y : want) bound.push_back(rms_norm_error(n) * std::fabs(y) + kTiny);
      EXPECT_EQ(compare_within(test, run_plain(default_context(), in, 0, kRows), want, bound), "");
    }
  }
}

TEST(RmsNormGated, IsWithinItsBoundAndARowsBitsAreItsOwn) {
  for (int64_t n : kSizes) {
    for (GateFunction function : {GateFunction::kSilu, GateFunction::kSigmoid}) {
      const Inputs in(n, 1.0);
      const Case test{"rms_norm_gated", {kRows, n}, kSeed};
      EXPECT_EQ(compare_row_splits(test,
                                   [&](const CpuContext& context, int64_t begin, int64_t end) {
                                     return run_gated(context, in, function, begin, end);
                                   }),
                "");
      std::vector<double> want(in.x.size()), bound;
      reference_rms_norm_gated(in.gated(0, kRows, function, nullptr), want.data());
      for (double y : want) bound.push_back(rms_norm_gated_error(n) * std::fabs(y) + kTiny);
      EXPECT_EQ(
          compare_within(test, run_gated(default_context(), in, function, 0, kRows), want, bound),
          "");
    }
  }
}

// 255 squares of 2^-10 beside one of 1: a sum in bf16 would lose them all.
TEST(RmsNorm, SmallTermsBesideALargeOneCount) {
  constexpr int64_t kSize = 65536;
  std::vector<float> x(kSize, 0x1p-5f), weight(kSize, 1.0f);
  x[0] = 1.0f;
  float y[1 << 16];
  const RmsNormArgs args{.x = x.data(),
                         .x_stride = kSize,
                         .weight = weight.data(),
                         .eps = 1e-6f,
                         .rows = 1,
                         .n = kSize,
                         .y = y};
  run_rms_norm(default_context(), args);
  std::vector<double> want(kSize);
  reference_rms_norm(args, want.data());
  EXPECT_LE(std::fabs(y[0] - want[0]), rms_norm_error(kSize) * want[0]);
  float sum = 0.0f;
  for (float value : x) sum = bf16_to_float(float_to_bf16(sum + value * value));
  const double twin = 1.0 / std::sqrt(sum / kSize + 1e-6);
  EXPECT_GE(std::fabs(twin - want[0]), 100.0 * rms_norm_error(kSize) * want[0]);
}

TEST(RmsNorm, NonFiniteRowsStayAlone) {
  Inputs in(33, 1.0);
  const std::vector<float> want = run_plain(default_context(), in, 0, kRows);
  in.x[33 * 2 + 32] = std::numeric_limits<float>::quiet_NaN();
  in.x[33 * 5] = std::numeric_limits<float>::infinity();
  const std::vector<float> got = run_plain(default_context(), in, 0, kRows);
  std::vector<double> reference(got.size());
  reference_rms_norm(in.plain(0, kRows, nullptr), reference.data());
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t row = i / 33;
    if (row != 2 && row != 5) {
      EXPECT_EQ(got[i], want[i]);
    } else {
      EXPECT_EQ(std::isnan(got[i]), std::isnan(reference[i])) << i;
    }
  }
}

TEST(RmsNorm, ReadsHeadsInsideWiderRowsAndWritesInPlace) {
  Inputs in(48, 1.0);
  const RmsNormArgs heads{.x = in.x.data() + 8,
                          .x_stride = 48,
                          .weight = in.weight.data(),
                          .eps = 1e-6f,
                          .rows = kRows,
                          .n = 17};
  std::vector<float> packed, got(17 * kRows);
  for (int64_t row = 0; row < kRows; ++row) {
    packed.insert(packed.end(), in.x.begin() + row * 48 + 8, in.x.begin() + row * 48 + 25);
  }
  RmsNormArgs args = heads;
  args.y = got.data();
  run_rms_norm(default_context(), args);
  args.x = args.y = packed.data();
  args.x_stride = 17;
  run_rms_norm(default_context(), args);
  EXPECT_EQ(compare_bits({"rms_norm", {kRows, 17}, kSeed}, got, packed), "");
}

}  // namespace
}  // namespace lockstep::contract
