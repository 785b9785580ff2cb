#include "kernels/conv1d_causal/cpu.h"

#include "kernels/simd/math.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Input row `row` of the sequence, counted from the segment's first; before it stands the state.
const float* input_row(const Conv1dCausalArgs& args, const ConvSequence& sequence, int64_t row) {
  if (row < 0) return sequence.state_in + (row + kConvTaps - 1) * args.channels;
  return args.u + (sequence.first_row + row) * args.channels;
}

}  // namespace

void conv1d_causal_channels(const Conv1dCausalArgs& args, const ConvSequence& sequence,
                            int64_t begin, int64_t end) {
  const float* weight[kConvTaps];
  for (int64_t j = 0; j < kConvTaps; ++j) weight[j] = args.weight + j * args.channels;
  for (int64_t row = 0; row < sequence.rows; ++row) {
    const float* u[kConvTaps];  // oldest first
    for (int64_t j = 0; j < kConvTaps; ++j) {
      u[j] = input_row(args, sequence, row + j - (kConvTaps - 1));
    }
    float* out = args.out + (sequence.first_row + row) * args.channels;
    for (int64_t c = begin; c < end; c += kLanes) {
      const int64_t n = end - c;
      F32x16 sum = load_up_to(weight[0] + c, n) * load_up_to(u[0] + c, n);
      for (int64_t j = 1; j < kConvTaps; ++j) {
        sum = fma(load_up_to(weight[j] + c, n), load_up_to(u[j] + c, n), sum);
      }
      store_up_to(silu(sum), out + c, n);
    }
  }
  for (int64_t j = 0; j < kConvTaps - 1; ++j) {
    const float* kept = input_row(args, sequence, sequence.rows + j - (kConvTaps - 1));
    std::memcpy(sequence.state_out + j * args.channels + begin, kept + begin,
                static_cast<size_t>(end - begin) * sizeof(float));
  }
}

}  // namespace lockstep::LOCKSTEP_ISA
