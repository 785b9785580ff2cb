#include <limits>

#include "kernels/linear/cpu.h"
#include "kernels/simd/f32x16.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

constexpr float kSmallestAmax = 0x1p-100f;

struct GroupScale {
  float scale;
  bool live;  // false: every q of the group is 0
};

// amax reads a NaN as such only when it is the left operand of the comparison, so finiteness is
// asked of the values themselves: x - x is +0 for finite x and NaN otherwise.
GroupScale group_scale(F32x16 a, F32x16 b) {
  const float spread = reduce_add((a - a) + (b - b));
  if (spread != 0.0f || spread != spread) return {std::numeric_limits<float>::quiet_NaN(), false};
  const float amax = reduce_max(max(abs(a), abs(b)));
  if (amax < kSmallestAmax) return {0.0f, false};
  return {amax / 127.0f, true};
}

// rint, ties to even, by adding 1.5 * 2^23; clamped to [-127, 127].
I32x16 round_to_q(F32x16 x, F32x16 scale) {
  const F32x16 bound = F32x16::splat(127.0f);
  const F32x16 ratio = max(min(x / scale, bound), -bound);
  return as_i32(ratio + F32x16::splat(0x1.8p23f)) - I32x16::splat(0x4b400000);
}

// Values 8 d + 0, 2, 4, 6 and 8 d + 1, 3, 5, 7 of a group are 4 neighbouring bytes each, 64 apart.
void store_in_block_order(const int32_t (&integers)[kActivationGroup], int8_t* first) {
  for (int vector = 0; vector < 8; ++vector) {
    const int32_t* values = integers + vector / 2 * 8 + vector % 2;
    for (int i = 0; i < 4; ++i) first[64 * vector + i] = static_cast<int8_t>(values[2 * i]);
  }
}

}  // namespace

void quantize_row(const float* x, int64_t k, ActivationBlock* out) {
  const int64_t groups = activation_blocks(k) * kGroupsPerBlock;
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = g * kActivationGroup;
    float values[kActivationGroup] = {};
    if (begin < k) {
      const int64_t n = k - begin < kActivationGroup ? k - begin : kActivationGroup;
      std::memcpy(values, x + begin, static_cast<size_t>(n) * sizeof(float));
    }
    const F32x16 a = F32x16::load(values);
    const F32x16 b = F32x16::load(values + kLanes);
    const GroupScale group = group_scale(a, b);
    int32_t integers[kActivationGroup] = {};
    if (group.live) {
      const F32x16 divisor = F32x16::splat(group.scale);
      round_to_q(a, divisor).store(integers);
      round_to_q(b, divisor).store(integers + kLanes);
    }
    int32_t first = 0, second = 0;
    for (int i = 0; i < 16; ++i) first += integers[i];
    for (int i = 16; i < 32; ++i) second += integers[i];
    ActivationBlock& block = out[g / kGroupsPerBlock];
    const int64_t lane = activation_lane(g);
    store_in_block_order(integers, block.q + 4 * lane);
    block.scale[lane] = group.scale;
    block.sum[lane] = static_cast<float>(first + second);
    block.half_sum[lane] = static_cast<float>(first);
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
