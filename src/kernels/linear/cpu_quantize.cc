#include <algorithm>
#include <limits>

#include "kernels/linear/cpu.h"
#include "kernels/linear/place_quads.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

constexpr float kSmallestAmax = 0x1p-100f;

// 16 groups of a row: a copy, with zeros after it, where the row ends inside.
struct Values {
  alignas(64) float padded[kActivationBlock];
  const float* at;

  Values(const float* x, int64_t count) : at(x) {
    if (count >= kActivationBlock) return;
    std::copy_n(x, count, padded);
    std::fill(padded + count, padded + kActivationBlock, 0.0f);
    at = padded;
  }
};

struct GroupScale {
  float scale;
  bool live;  // false: every q of the group is 0
};

GroupScale group_scale(float spread, float amax) {
  if (spread != 0.0f || spread != spread) return {std::numeric_limits<float>::quiet_NaN(), false};
  if (amax < kSmallestAmax) return {0.0f, false};
  return {amax / 127.0f, true};
}

// rint, ties to even, by adding 1.5 * 2^23; clamped to [-127, 127].
I32x16 round_to_q(F32x16 x, F32x16 scale) {
  const F32x16 bound = F32x16::splat(127.0f);
  const F32x16 ratio = max(min(x / scale, bound), -bound);
  return as_i32(ratio + F32x16::splat(0x1.8p23f)) - I32x16::splat(0x4b400000);
}

// Groups `first`, first + 4, first + 8 and first + 12 of a block: neighbouring lanes.
void quantize_quad(const float* x, int64_t first, ActivationBlock& out) {
  F32x16 a[4], b[4], spread[4];
  float spreads[4];
  for (int i = 0; i < 4; ++i) {
    const float* group = x + (first + 4 * i) * kActivationGroup;
    a[i] = F32x16::load(group);
    b[i] = F32x16::load(group + kLanes);
    // amax reads a NaN as such only when it is the left operand of the comparison, so finiteness
    // is asked of the values themselves: x - x is +0 for finite x and NaN otherwise.
    spread[i] = (a[i] - a[i]) + (b[i] - b[i]);
  }
  reduce_add_4(spread[0], spread[1], spread[2], spread[3], spreads);
  I32x16 q[2][4];
  F32x16 halves[4], wholes[4];
  float half_sums[4], sums[4];
  const int64_t lane = activation_lane(first);
  for (int i = 0; i < 4; ++i) {
    const float amax = reduce_max(max(abs(a[i]), abs(b[i])));
    const GroupScale group = group_scale(spreads[i], amax);
    const F32x16 divisor = F32x16::splat(group.scale);
    q[0][i] = group.live ? round_to_q(a[i], divisor) : I32x16::splat(0);
    q[1][i] = group.live ? round_to_q(b[i], divisor) : I32x16::splat(0);
    halves[i] = to_f32(q[0][i]);
    wholes[i] = halves[i] + to_f32(q[1][i]);
    out.scale[lane + i] = group.scale;
  }
  // Whole numbers far below 2^24: exact in any order.
  reduce_add_4(halves[0], halves[1], halves[2], halves[3], half_sums);
  reduce_add_4(wholes[0], wholes[1], wholes[2], wholes[3], sums);
  std::copy_n(half_sums, 4, out.half_sum + lane);
  std::copy_n(sums, 4, out.sum + lane);
  place_quads(q[0], out.q + 4 * lane);
  place_quads(q[1], out.q + 4 * lane + 4 * 64);
}

}  // namespace

void quantize_row(const float* x, int64_t k, ActivationBlock* out) {
  for (int64_t begin = 0; begin < k; begin += kActivationBlock, ++out) {
    const Values values(x + begin, k - begin);
    for (int64_t first = 0; first < 4; ++first) quantize_quad(values.at, first, *out);
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
