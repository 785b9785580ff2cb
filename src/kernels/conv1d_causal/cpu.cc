#include "kernels/conv1d_causal/cpu.h"

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {

void conv1d_causal_channels(const Conv1dCausalArgs& args, const ConvSequence& sequence,
                            int64_t begin, int64_t end) {
  const int64_t channels = args.channels;
  for (int64_t c = begin; c < end; c += kLanes) {
    const int64_t n = end - c;
    F32x16 w[kConvTaps];
    for (int j = 0; j < kConvTaps; ++j) w[j] = load_up_to(args.weight + j * channels + c, n);
    F32x16 past[kConvTaps - 1];  // the three inputs before the current one, oldest first
    for (int j = 0; j < kConvTaps - 1; ++j) {
      past[j] = load_up_to(sequence.state_in + j * channels + c, n);
    }
    for (int64_t row = sequence.first_row; row < sequence.first_row + sequence.rows; ++row) {
      const F32x16 u = load_up_to(args.u + row * channels + c, n);
      const F32x16 sum = fma(w[3], u, fma(w[2], past[2], fma(w[1], past[1], w[0] * past[0])));
      store_up_to(silu(sum), args.out + row * channels + c, n);
      past[0] = past[1];
      past[1] = past[2];
      past[2] = u;
    }
    for (int j = 0; j < kConvTaps - 1; ++j) {
      store_up_to(past[j], sequence.state_out + j * channels + c, n);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
