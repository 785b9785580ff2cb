// linear and quantize_rows in float64, from the definition.
#pragma once

#include "kernels/linear/linear.h"

namespace lockstep {

// One stored weight: scale * q + bias. A dense weight has scale 0 and is its bias.
struct ReferenceWeight {
  double scale = 0.0;
  int q = 0;
  double bias = 0.0;
  double value() const { return scale * q + bias; }
};
ReferenceWeight reference_weight(const MatrixView& matrix, int64_t row, int64_t k);

// y [rows, N] without stride, and the sums of magnitudes that the bounds of error_bound.h multiply:
// of |x w|, or for int8 of |scale_x| (|scale_w d| + |bias_w sum_x|). `magnitude` may be null.
void reference_linear(const LinearArgs& args, double* y, double* magnitude);

// The same with float64 rows in the place of args.x, and unrounded weights; each is decoded once.
void reference_linear(const LinearArgs& args, const double* x, double* y);

// The value that stored q and scale stand for.
double reference_dequantized(const ActivationBlock* rows, int64_t k_count, int64_t row, int64_t k);

// quantize_rows by its definition, without args.out: [rows, groups] and, for q, [rows, groups *
// 32], in the lanes and places of the op's blocks, padding included. The roundings of scale and of
// x / scale are those of float32.
struct ReferenceQuantized {
  double* scale;
  double* sum;
  double* half_sum;
  double* q;
};
void reference_quantize_rows(const QuantizeRowsArgs& args, const ReferenceQuantized& out);

}  // namespace lockstep
