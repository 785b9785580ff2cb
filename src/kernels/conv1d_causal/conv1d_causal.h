// conv1d_causal: depthwise causal convolution over time with 4 taps, then silu:
//   c_t = silu( fma(w3, u_t, fma(w2, u_{t-1}, fma(w1, u_{t-2}, w0 * u_{t-3}))) )
// Inputs before a segment come from the state, the last three input rows of the sequence (zeros at
// its start). state_out = the last three rows of [state_in, u]. float32, no rounding of the state.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"
#include "kernels/rounding.h"

namespace lockstep {

inline constexpr int64_t kConvTaps = 4;

struct ConvSequence {
  int64_t first_row = 0;
  int64_t rows = 0;
  const float* state_in = nullptr;  // [3, C], oldest first
  float* state_out = nullptr;       // [3, C]; not state_in
};

struct Conv1dCausalArgs {
  const float* u = nullptr;       // [rows, C]
  const float* weight = nullptr;  // [4, C]: tap j of every channel; tap 3 meets the current row
  int64_t channels = 0;           // C
  const ConvSequence* sequences = nullptr;
  int64_t sequence_count = 0;
  float* out = nullptr;  // [rows, C]; not u
};

// Error against float64: four roundings of the sum, whose terms have this total magnitude, through
// a slope of at most 1.1, and silu itself.
constexpr double conv1d_causal_error(double magnitude, double out) {
  const double size = out < 0.0 ? -out : out;
  return 1.1 * roundings(4.0) * magnitude + roundings(kSiluRoundings) * size +
         128.0 * kSigmoidFloor;
}

void run_conv1d_causal(const CpuContext& context, const Conv1dCausalArgs& args);
ShapeClass shape_class(const Conv1dCausalArgs& args);
std::vector<KernelInfo> conv1d_causal_kernels();

}  // namespace lockstep
