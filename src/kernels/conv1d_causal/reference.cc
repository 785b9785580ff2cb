#include "kernels/conv1d_causal/reference.h"

#include <cmath>

#include "base/real_math.h"

namespace lockstep {
namespace {

template <typename Real>
void convolve(const Conv1dCausalArgs& args, const Real* u, double* out, double* bound) {
  const int64_t channels = args.channels;
  for (int64_t s = 0; s < args.sequence_count; ++s) {
    const ConvSequence& sequence = args.sequences[s];
    for (int64_t row = 0; row < sequence.rows; ++row) {
      for (int64_t c = 0; c < channels; ++c) {
        double sum = 0.0, magnitude = 0.0;
        for (int64_t tap = 0; tap < kConvTaps; ++tap) {
          const int64_t from = row + tap - (kConvTaps - 1);
          const double source = from < 0 ? sequence.state_in[(from + kConvTaps - 1) * channels + c]
                                         : u[(sequence.first_row + from) * channels + c];
          const double term = args.weight[tap * channels + c] * source;
          sum += term;
          magnitude += std::fabs(term);
        }
        const int64_t at = (sequence.first_row + row) * channels + c;
        out[at] = sum / (1.0 + real_math::exp(-sum));
        if (bound != nullptr) bound[at] = conv1d_causal_error(magnitude, out[at]);
      }
    }
  }
}

}  // namespace

void reference_conv1d_causal(const Conv1dCausalArgs& args, double* out, double* bound) {
  convolve(args, args.u, out, bound);
}

void reference_conv1d_causal(const Conv1dCausalArgs& args, const double* u, double* out) {
  convolve(args, u, out, nullptr);
}

}  // namespace lockstep
