#pragma once

#include "kernels/linear/linear.h"
#include "kernels/registry.h"

namespace lockstep {

// Some outputs of some rows: one task.
struct LinearTile {
  MatrixView weight;                             // its outputs only, [n, K]
  const float* x = nullptr;                      // row 0 of [*, K]
  const ActivationBlock* x_quantized = nullptr;  // row 0
  const int64_t* x_row = nullptr;                // [rows]; null: row i reads row i
  const int64_t* y_row = nullptr;                // [rows]; null: row i writes row i
  int64_t rows = 0;
  float* y = nullptr;  // first output of row 0
  int64_t y_stride = 0;

  int64_t source(int64_t row) const { return x_row == nullptr ? row : x_row[row]; }
  int64_t target(int64_t row) const { return y_row == nullptr ? row : y_row[row]; }
};

}  // namespace lockstep

LOCKSTEP_DECLARE_PER_ISA(void linear_float_tile(const LinearTile& tile);
                         void linear_int8_tile(const LinearTile& tile);
                         void quantize_row(const float* x, int64_t k, ActivationBlock* out))
