#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/linear/error_bound.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/reference.h"
#include "kernels/linear/test_matrix.h"

namespace lockstep::contract {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The header's definition for one group of 32.
struct Group {
  float scale = 0.0f;
  int q[32] = {};
  int sum = 0;
};
Group quantize_group(const float* x, int64_t n) {
  Group group;
  float amax = 0.0f;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) {
      group.scale = kNan;
      return group;
    }
    amax = std::max(amax, std::fabs(x[i]));
  }
  if (amax < 0x1p-100f) return group;
  group.scale = amax / 127.0f;
  for (int64_t i = 0; i < n; ++i) {
    group.q[i] = static_cast<int>(std::nearbyint(x[i] / group.scale));
    group.sum += group.q[i];
  }
  return group;
}

// Quantises rows of k into guarded outputs and compares each value with the definition.
void check_rows(const std::vector<float>& x, int64_t rows, int64_t k) {
  const int64_t groups = activation_groups(k);
  for_each_context([&](const CpuContext& context, const std::string& name) {
    std::vector<int8_t> q(static_cast<size_t>(rows * groups * 32) + 64, 99);
    Guarded scale(rows * groups), sum(rows * groups);
    run_quantize_rows(
        context,
        {.x = x.data(), .rows = rows, .k = k, .out = {q.data() + 32, scale.data(), sum.data()}});
    EXPECT_EQ(scale.check() + sum.check(), "") << name;
    for (size_t i = 0; i < 32; ++i) ASSERT_TRUE(q[i] == 99 && q[q.size() - 1 - i] == 99) << name;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t n = std::clamp<int64_t>(k - 32 * g, 0, 32);
        const Group want = quantize_group(x.data() + row * k + 32 * g, n);
        const auto at = static_cast<size_t>(row * groups + activation_group_position(g));
        ASSERT_EQ(compare_bits({"quantize_rows", {1}, 0}, scale.values().subspan(at, 1),
                               std::vector<float>{want.scale}),
                  "")
            << name;
        ASSERT_EQ(sum.values()[at], static_cast<float>(want.sum)) << name;
        for (int64_t i = 0; i < 32; ++i) {
          ASSERT_EQ(
              q[static_cast<size_t>(32 + row * groups * 32 + activation_position(32 * g + i))],
              want.q[i])
              << name << ", row " << row << ", k " << 32 * g + i;
        }
      }
    }
  });
}

TEST(QuantizeRows, FollowsTheDefinition) {
  Random random(21);
  for (int64_t k : {1, 31, 32, 33, 64, 511, 512, 513, 1024 + 96}) {
    check_rows(random.normals(5 * k, 3.0), 5, k);
  }
  check_rows(random.normals(40 * 64, 1e30), 40, 64);
}

TEST(QuantizeRows, RoundsTiesToEven) {
  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i) x[i] = (i - 16) + 0.5f;
  x[31] = 127.0f;  // scale 1
  check_rows(x, 1, 32);
  EXPECT_EQ(quantize_group(x.data(), 32).q[16], 0);
  EXPECT_EQ(quantize_group(x.data(), 32).q[17], 2);
}

TEST(QuantizeRows, MarksGroupsItCannotRepresent) {
  Random random(22);
  for (float bad : {kNan, -kNan, kInfinity, -kInfinity, 0x1p-101f, -0x1p-149f, 0.0f,
                    std::numeric_limits<float>::max()}) {
    for (int64_t at : {0, 15, 16, 31}) {
      std::vector<float> x = random.normals(3 * 32, 0x1p-110);
      x[static_cast<size_t>(32 + at)] = bad;
      check_rows(x, 1, 96);
    }
  }
}

TEST(QuantizeRows, StoresEveryValueInAPlaceOfItsOwn) {
  std::set<int64_t> values, groups;
  for (int64_t k = 0; k < 1024; ++k) values.insert(activation_position(k));
  for (int64_t g = 0; g < 32; ++g) groups.insert(activation_group_position(g));
  EXPECT_EQ(values.size(), 1024u);
  EXPECT_EQ(*values.rbegin(), 1023);
  EXPECT_EQ(groups.size(), 32u);
  EXPECT_EQ(*groups.rbegin(), 31);
}

TEST(QuantizeRows, MovesAProductByNoMoreThanItsBound) {
  constexpr int64_t kK = 1024, kN = 16;
  for (int bits : {2, 4, 8}) {
    const TestMatrix weight(affine(bits, 64), kN, kK, 23);
    const std::vector<float> x = Random(24).normals(kK);
    const TestQuantized quantized(default_context(), x.data(), 1, kK);
    LinearArgs args{.weight = weight.view(), .x = x.data(), .rows = 1};
    std::vector<double> full(kN), int8(kN), bound(kN);
    reference_linear(args, full.data(), nullptr);
    args.x_quantized = &quantized.rows();
    reference_linear(args, int8.data(), nullptr);
    for (int64_t n = 0; n < kN; ++n) {
      for (int64_t k = 0; k < kK; ++k) {
        const float scale = quantized.rows().scale[activation_group_position(k / 32)];
        bound[n] +=
            std::fabs(reference_weight(weight.view(), n, k).value()) * quantisation_bound(scale);
      }
      EXPECT_LE(std::fabs(int8[n] - full[n]), bound[n]);
      EXPECT_GT(std::fabs(int8[n] - full[n]), 0.0);
    }
  }
}

}  // namespace
}  // namespace lockstep::contract
