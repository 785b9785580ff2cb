// linear: y = x W^T for a stored weight W [N, K] in its own encoding, rows of x independent of each
// other. linear_grouped: the same product where each row names the matrix of a stack it meets
// (experts).
//
// Three arithmetics, chosen by the weight's encoding and by whether quantised rows are given; never
// by the number of rows. Per output, with lanes l = 0..15, all sums starting at +0 and all values
// float32:
//   dense        acc[k mod 16] = fma(x[k], w[k], acc[k mod 16]), k ascending; then the tree
//                16-8-4-2-1.
//   affine,      w[k] = fma(scale, q[k], bias) once, then as dense ("full"). The scale and bias of
//   blocks       a block's element are those of formats/block_group.h.
//   affine int8  activation group g of 32: d = sum q_w q_x, exact in int32, converted to float
//                (exact); t = fma(scale_w, d, bias_w * sum_x);
//                acc[g mod 16] = fma(scale_x, t, acc[g mod 16]), g ascending; then the tree. An
//                affine group is a multiple of 32, so scale_w and bias_w are those of the group
//                that holds g.
//   blocks int8  Q4_0, Q8_0, Q4_K, Q5_K: as affine int8 with the scale and bias of group g (without
//   a
//                bias t = scale_w d, one rounding). Q6_K, whose groups have two integer scales
//                under one factor d_w: D = sum over the halves of s (sum q_w q_x), exact in int32
//                and as a float (below 2^24); t = d_w D. Other blocks take float32 activations.
// k and g run to the next multiple of 16; values and groups beyond the end count as +0 (which can
// only turn a lane's -0 into +0). Dense weights always take float32 activations (rule 13).
//
// Class: bit_exact over rows, batches, threads and instruction sets; norm_bounded against float64
// (error_bound.h). A non-finite value reaches outputs of its own row only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/matrix.h"
#include "kernels/cpu_context.h"
#include "kernels/linear/quantized_rows.h"

namespace lockstep {

struct LinearArgs {
  MatrixView weight;                             // [N, K]; affine: group a multiple of 32
  const float* x = nullptr;                      // [rows, K]; unused where quantised rows are used
  const ActivationBlock* x_quantized = nullptr;  // the same rows; null: float32 activations
  int64_t rows = 0;
  float* y = nullptr;  // [rows, N], rows y_stride apart
  int64_t y_stride = 0;
};

// Whether quantised rows are used where they are given.
constexpr bool takes_int8(const MatrixView& weight) {
  if (weight.encoding != Encoding::kBlocks) return weight.encoding == Encoding::kAffine;
  switch (weight.block) {
    case BlockType::kQ4_0:
    case BlockType::kQ8_0:
    case BlockType::kQ4_K:
    case BlockType::kQ5_K:
    case BlockType::kQ6_K:
      return true;
    default:
      return false;
  }
}

void run_linear(const CpuContext& context, const LinearArgs& args);
ShapeClass shape_class(const LinearArgs& args);

// A slot is one (row, matrix) pair. Slots are sorted by matrix: those of matrix e are
// [slot_begin[e], slot_begin[e + 1]).
struct LinearGroupedArgs {
  MatrixStack weight;                            // E matrices [N, K]
  const int64_t* slot_begin = nullptr;           // [E + 1]
  const int64_t* x_row = nullptr;                // [slots]: row of x that the slot reads
  const int64_t* y_row = nullptr;                // [slots]: row of y that it writes, all different
  const float* x = nullptr;                      // [*, K]
  const ActivationBlock* x_quantized = nullptr;  // the same rows; null: float32 activations
  float* y = nullptr;                            // [*, N]
};

void run_linear_grouped(const CpuContext& context, const LinearGroupedArgs& args);
ShapeClass shape_class(const LinearGroupedArgs& args);
std::vector<KernelInfo> linear_kernels();  // of both

}  // namespace lockstep
