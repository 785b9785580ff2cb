// One block (16 groups of 32) of an affine weight row against quantised rows: exact integer dots
// and the block's scales, one group per lane, lanes in the order of quantized_rows.h.
//   dot_block<kBits>(packed, x, rows, out)          out[r] = dots with the block at x[r]; reads
//                                                   64 * kBits bytes of `packed`
//   dot_bytes<kBits>(bytes, x, rows, out)           the same for integers that are bytes already,
//                                                   512 in natural order, below 2^kBits
//   dot_halves<kBits>(bytes, halves, x, sums, zero, rows, out)
//                                                   the same of bytes - zero, where a group's first
//                                                   16 products count halves.first[lane] times, the
//                                                   others halves.second[lane] times; sums[r] are
//                                                   those of the rows' groups
//   spread_scales(type, row, first, count, ratio)   scales of groups [first, first + count) of a
//                                                   row; `ratio` groups share one; other lanes 0
//   reduce_add_block(a)                             the tree 16-8-4-2-1
#pragma once

#include "kernels/linear/quantized_rows.h"
#include "kernels/simd/decode.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Natural order to block order and, a transposition being its own inverse, back.
inline F32x16 transpose_groups(F32x16 a) {
  float from[kLanes];
  float to[kLanes];
  a.store(from);
  for (int64_t g = 0; g < kLanes; ++g) to[activation_group_position(g)] = from[g];
  return F32x16::load(to);
}

template <DType kType>
F32x16 spread_any_scales(const std::byte* row, int64_t first, int64_t count, int64_t ratio) {
  float lanes[kLanes] = {};
  for (int64_t g = 0; g < count; ++g) {
    const auto at = static_cast<size_t>((first + g) / ratio);
    lanes[g] = load_float(kType, row + at * size_of(kType));
  }
  return transpose_groups(F32x16::load(lanes));
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Factors of the halves of 16 groups, one group per lane.
struct HalfScales {
  alignas(64) int32_t first[kGroupsPerBlock];
  alignas(64) int32_t second[kGroupsPerBlock];
};

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA

#if defined(LOCKSTEP_ISA_AVX512)
#include "kernels/linear/int8_dot_x86.h"
#include "kernels/linear/int8_scales_avx512.h"
#elif defined(LOCKSTEP_ISA_AVX2)
#include "kernels/linear/int8_dot_x86.h"
#include "kernels/linear/int8_scales_avx2.h"
#else
#include "kernels/linear/int8_block_portable.h"
#endif

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline F32x16 spread_scales(DType type, const std::byte* row, int64_t first, int64_t count,
                            int64_t ratio) {
  if (type == DType::kBF16) return spread_scales_of<DType::kBF16>(row, first, count, ratio);
  if (type == DType::kF16) return spread_scales_of<DType::kF16>(row, first, count, ratio);
  return spread_scales_of<DType::kF32>(row, first, count, ratio);
}

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
