// rope: rotates the first R dimensions of each head in NeoX pairing, i with i + R / 2:
//   x_i' = x_i cos_i - x_{i+R/2} sin_i,   x_{i+R/2}' = x_{i+R/2} cos_i + x_i sin_i
// as fma(x_i, cos_i, -(x_{i+R/2} * sin_i)) and fma(x_{i+R/2}, cos_i, x_i * sin_i). No reduction;
// bit_exact. The angles come from rope_table (one scalar routine for every kernel and backend).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

namespace lockstep {

struct RopeArgs {
  float* x = nullptr;  // [rows, heads, head_dim], in place
  int64_t rows = 0;
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t rotary_dim = 0;      // R
  const float* cos = nullptr;  // [rows, R / 2]
  const float* sin = nullptr;  // [rows, R / 2]
};

// Error against float64: `terms` = |x_i cos_i| + |x_{i+R/2} sin_i| of an output.
constexpr double rope_error(double terms) { return roundings(2.0) * terms + kTiny; }

void run_rope(const CpuContext& context, const RopeArgs& args);
ShapeClass shape_class(const RopeArgs& args);
std::vector<KernelInfo> rope_kernels();

// Inverse frequencies theta^(-2i/R), i in [0, R/2), computed in double and rounded once.
std::vector<float> rope_frequencies(double theta, int64_t rotary_dim);

// cos and sin of float32(position) * frequency, the product in float32, the functions in double
// rounded once, each then times `scale` (1 unless YaRN). Frequency i takes its position from height
// if i mod 3 = 1 and i < 3 * section[1], from width if i mod 3 = 2 and i < 3 * section[2], else
// from time.
void rope_table(std::span<const float> frequencies, std::array<int64_t, 3> mrope_section,
                float scale, std::array<int32_t, 3> position, float* cos, float* sin);

}  // namespace lockstep
