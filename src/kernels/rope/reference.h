// rope in float64, unrounded, in the plainest order.
#pragma once

#include "kernels/rope/rope.h"

namespace lockstep {

// y: [rows, heads, head_dim].
void reference_rope(const RopeArgs& args, double* y);

// The same with float64 inputs in the place of those of args.
void reference_rope(const RopeArgs& args, const double* x, const double* cos, const double* sin,
                    double* y);

// rope_table without its last rounding: cos and sin of the float32 angle, times scale.
void reference_rope_table(std::span<const float> frequencies, std::array<int64_t, 3> mrope_section,
                          float scale, std::array<int32_t, 3> position, double* cos, double* sin);

}  // namespace lockstep
