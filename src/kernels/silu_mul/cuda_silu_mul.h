// silu(gate) * up, rounded for the product that follows. float32 in: silu(g) = g * sigmoid(g), one
// rounding each, then one multiplication by `up`, then round_activations (cuda_linear.h).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "kernels/linear/cuda_linear.h"

namespace lockstep::cuda {

// `in` [rows, 2 * inputs]: gate, then up.
Status silu_mul_round(Way way, const float* in, int rows, int inputs, uint16_t* x, uint16_t* sums,
                      bool overlap, Stream stream);

}  // namespace lockstep::cuda
