// One block (16 groups of 32) of an affine weight row against quantised rows: exact integer dots,
// one group per lane, lanes in the order of quantized_rows.h.
#pragma once

#include "kernels/linear/quantized_rows.h"
#include "kernels/simd/unpack.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

template <int kBits>
struct WeightBlock {
  uint8_t q[kActivationBlock];  // in the order of QuantizedRows::q

  // Reads 64 * kBits bytes.
  static WeightBlock unpack(const uint8_t* packed) {
    WeightBlock block;
    for (int64_t g = 0; g < kGroupsPerBlock; ++g) {
      uint8_t values[kActivationGroup];
      unpack_32<kBits>(packed + g * 4 * kBits, values);
      for (int64_t i = 0; i < kActivationGroup; ++i) {
        block.q[activation_position(g * kActivationGroup + i)] = values[i];
      }
    }
    return block;
  }

  I32x16 dot(const int8_t* x) const {
    int32_t sums[kLanes] = {};
    for (int64_t i = 0; i < kActivationBlock; ++i) sums[i / 4 % kLanes] += q[i] * x[i];
    return I32x16::load(sums);
  }
};

// The tree 16-8-4-2-1 over lanes in the order of quantized_rows.h.
inline float reduce_add_blocks(F32x16 a) {
  float transposed[kLanes];
  float lanes[kLanes];
  a.store(transposed);
  for (int64_t g = 0; g < kLanes; ++g) lanes[g] = transposed[activation_group_position(g)];
  return reduce_add(F32x16::load(lanes));
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
