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

struct Rows {
  std::vector<double> scale, sum, half_sum, q;
};

Rows reference(const std::vector<float>& x) {
  const auto k = static_cast<int64_t>(x.size());
  const std::vector<double> groups(static_cast<size_t>(activation_blocks(k) * kGroupsPerBlock));
  Rows rows{groups, groups, groups, std::vector<double>(32 * groups.size())};
  reference_quantize_rows(
      {.x = x.data(), .rows = 1, .k = k},
      {rows.scale.data(), rows.sum.data(), rows.half_sum.data(), rows.q.data()});
  return rows;
}

// One row in every context against the definition.
void check_row(const std::vector<float>& x) {
  const Rows want = reference(x);
  const auto k = static_cast<int64_t>(x.size());
  for_each_context([&](const CpuContext& context, const std::string& name) {
    const auto got = quantized_rows(context, x.data(), 1, k);
    for (size_t g = 0; g < want.scale.size(); ++g) {
      const ActivationBlock& block = got[g / 16];
      ASSERT_TRUE(block.scale[g % 16] == want.scale[g] ||
                  (std::isnan(block.scale[g % 16]) && std::isnan(want.scale[g])))
          << name << ", stored group " << g;
      ASSERT_EQ(block.sum[g % 16], want.sum[g]) << name << ", stored group " << g;
      ASSERT_EQ(block.half_sum[g % 16], want.half_sum[g]) << name << ", stored group " << g;
    }
    for (size_t i = 0; i < want.q.size(); ++i) {
      ASSERT_EQ(got[i / 512].q[i % 512], want.q[i]) << name << ", stored value " << i;
    }
  });
}

TEST(QuantizeRows, RoundsTiesToEven) {
  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i) x[i] = (i - 16) + 0.5f;
  x[31] = 127.0f;  // scale 1
  check_row(x);
  const std::vector<double> q = reference(x).q;
  EXPECT_EQ(q[static_cast<size_t>(activation_place(16))], 0.0);
  EXPECT_EQ(q[static_cast<size_t>(activation_place(17))], 2.0);
}

TEST(QuantizeRows, MarksGroupsItCannotRepresent) {
  Random random(22);
  for (float bad : {kNan, -kNan, kInfinity, -kInfinity, 0x1p-101f, -0x1p-149f, 0.0f,
                    std::numeric_limits<float>::max()}) {
    for (int64_t at : {0, 15, 16, 31}) {
      std::vector<float> x = random.normals(3 * 32, 0x1p-110);
      x[static_cast<size_t>(32 + at)] = bad;
      check_row(x);
    }
  }
}

TEST(QuantizeRows, StoresEveryValueInAPlaceOfItsOwn) {
  std::set<int64_t> values, groups;
  for (int64_t k = 512; k < 1024; ++k) values.insert(activation_place(k));
  for (int64_t g = 16; g < 32; ++g) groups.insert(activation_lane(g));
  EXPECT_EQ(values.size(), 512u);
  EXPECT_EQ(*values.rbegin(), 511);
  EXPECT_EQ(groups.size(), 16u);
  EXPECT_EQ(*groups.rbegin(), 15);
}

TEST(QuantizeRows, MovesAProductByNoMoreThanItsBound) {
  constexpr int64_t kK = 1024, kN = 16;
  for (int bits : {2, 4, 8}) {
    const TestMatrix weight(affine(bits, 64), kN, kK, 23);
    const std::vector<float> x = Random(24).normals(kK);
    const auto quantized = quantized_rows(default_context(), x.data(), 1, kK);
    LinearArgs args{.weight = weight.view(), .x = x.data(), .rows = 1};
    std::vector<double> full(kN), int8(kN), bound(kN);
    reference_linear(args, full.data(), nullptr);
    args.x_quantized = quantized.data();
    reference_linear(args, int8.data(), nullptr);
    for (int64_t n = 0; n < kN; ++n) {
      for (int64_t k = 0; k < kK; ++k) {
        const float scale = quantized[k / 512].scale[activation_lane(k / 32)];
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
