#include <algorithm>
#include <cmath>

#include "kernels/conv1d_causal/reference.h"
#include "kernels/delta_gates/reference.h"
#include "kernels/gated_delta/reference.h"
#include "kernels/l2_norm/reference.h"
#include "kernels/rms_norm/reference.h"
#include "model/stages.h"
#include "verify/float64/float64_layer.h"

namespace lockstep::verify {
namespace {

// Normalises heads [rows, heads * n] that begin at column `first` of rows of `stride`, in place.
void normalise(const Float64Run& run, Rows& x, int64_t stride, int64_t first, float scale) {
  const GatedDeltaConfig& shape = run.model.config().delta;
  const int64_t width = shape.key_heads * shape.key_dim;
  Rows y(static_cast<size_t>(run.rows * width));
  reference_l2_norm({.rows = run.rows,
                     .stride = stride,
                     .heads = shape.key_heads,
                     .n = shape.key_dim,
                     .scale = scale},
                    x.data() + first, y.data());
  for (int64_t row = 0; row < run.rows; ++row) {
    std::copy_n(y.begin() + row * width, width, x.begin() + row * stride + first);
  }
}

Rows convolved(const Float64Run& run, const DeltaWeights& weights, const Rows& qkv) {
  const int64_t channels = run.model.config().delta.conv_channels();
  const std::vector<float> before(static_cast<size_t>((kConvTaps - 1) * channels));
  const ConvSequence sequence = {.rows = run.rows, .state_in = before.data()};
  Rows y(qkv.size());
  reference_conv1d_causal({.weight = weights.conv.data(),
                           .channels = channels,
                           .sequences = &sequence,
                           .sequence_count = 1},
                          qkv.data(), y.data());
  return y;
}

Rows scanned(const Float64Run& run, const Rows& qkv, const Rows& decay, const Rows& beta) {
  const GatedDeltaConfig& shape = run.model.config().delta;
  const auto values = static_cast<size_t>(shape.value_width());
  const std::vector<float> before(values * static_cast<size_t>(shape.key_dim));
  const DeltaSequence sequence = {.rows = run.rows, .state_in = before.data()};
  Rows y(static_cast<size_t>(run.rows) * values), bound(y.size());
  Rows state(before.size()), state_bound(values);
  reference_gated_delta({.key_heads = shape.key_heads,
                         .value_heads = shape.value_heads,
                         .key_dim = shape.key_dim,
                         .value_dim = shape.value_dim,
                         .sequences = &sequence,
                         .sequence_count = 1},
                        qkv.data(), decay.data(), beta.data(),
                        {.out = y.data(),
                         .states = state.data(),
                         .out_bound = bound.data(),
                         .state_bound = state_bound.data()});
  return y;
}

}  // namespace

Rows delta_branch(const Float64Run& run, const DeltaWeights& weights, const Rows& x) {
  const GatedDeltaConfig& shape = run.model.config().delta;
  const int64_t channels = shape.conv_channels();
  const Rows qkv = product(weights.qkv, x);
  const Rows z = product(weights.z, x);
  const Rows a = product(weights.a, x);
  const Rows b = product(weights.b, x);
  Rows decay(a.size()), beta(b.size());
  reference_delta_gates({.negative_a = weights.negative_a.data(),
                         .dt_bias = weights.dt_bias.data(),
                         .rows = run.rows,
                         .heads = shape.value_heads},
                        a.data(), b.data(), decay.data(), beta.data());
  run.show(stages::kQkv, qkv, channels);
  run.show(stages::kZ, z, shape.value_width());
  run.show(stages::kA, a, shape.value_heads);
  run.show(stages::kB, b, shape.value_heads);
  run.show(stages::kDecay, decay, shape.value_heads);
  run.show(stages::kBeta, beta, shape.value_heads);

  Rows mixed = convolved(run, weights, qkv);
  run.show(stages::kConv, mixed, channels);
  normalise(run, mixed, channels, 0, 1.0f / std::sqrt(static_cast<float>(shape.key_dim)));
  normalise(run, mixed, channels, shape.key_heads * shape.key_dim, 1.0f);
  const Rows out = scanned(run, mixed, decay, beta);
  run.show(stages::kDelta, out, shape.value_width());
  Rows gated(out.size());
  const GateFunction gate =
      shape.gate == GateActivation::kSigmoid ? GateFunction::kSigmoid : GateFunction::kSilu;
  reference_rms_norm_gated({.weight = weights.norm.data(),
                            .function = gate,
                            .eps = static_cast<float>(run.model.config().rms_norm_eps),
                            .rows = run.rows * shape.value_heads,
                            .n = shape.value_dim},
                           out.data(), z.data(), gated.data());
  run.show(stages::kDeltaGated, gated, shape.value_width());
  return product(weights.out, gated);
}

}  // namespace lockstep::verify
