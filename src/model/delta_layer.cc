#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/conv1d_causal/conv1d_causal.h"
#include "kernels/delta_gates/delta_gates.h"
#include "kernels/gated_delta/gated_delta.h"
#include "kernels/l2_norm/l2_norm.h"
#include "kernels/rms_norm/rms_norm.h"
#include "model/layer_run.h"

namespace lockstep {
namespace {

// Convolution, normalisation of q and k, and the recurrence, from committed states into the other
// copies.
struct Recurrence {
  const float* conv_in = nullptr;  // [rows, C]
  const float* decay = nullptr;    // [rows, Hv]
  const float* beta = nullptr;     // [rows, Hv]
  int64_t rows = 0;
  std::vector<ConvSequence> conv = {};
  std::vector<DeltaSequence> delta = {};

  void add(SequenceState& sequence, int64_t index, int64_t first_row, int64_t row_count) {
    conv.push_back({.first_row = first_row,
                    .rows = row_count,
                    .state_in = sequence.conv_in(index),
                    .state_out = sequence.conv_out(index)});
    delta.push_back({.first_row = first_row,
                     .rows = row_count,
                     .state_in = sequence.delta_in(index),
                     .state_out = sequence.delta_out(index)});
  }
};

void run_recurrence(const LayerRun& run, const DeltaWeights& weights,
                    const Recurrence& recurrence) {
  const GatedDeltaConfig& shape = run.config.delta;
  Activations& act = run.act;
  const auto sequence_count = static_cast<int64_t>(recurrence.conv.size());
  run_conv1d_causal(run.context, {.u = recurrence.conv_in,
                                  .weight = weights.conv.data(),
                                  .channels = shape.conv_channels(),
                                  .sequences = recurrence.conv.data(),
                                  .sequence_count = sequence_count,
                                  .out = act.conv_out});
  run.show(stages::kConv, act.conv_out, shape.conv_channels());
  L2NormArgs norm = {.x = act.conv_out,
                     .rows = recurrence.rows,
                     .stride = shape.conv_channels(),
                     .heads = shape.key_heads,
                     .n = shape.key_dim,
                     .scale = 1.0f / std::sqrt(static_cast<float>(shape.key_dim))};
  run_l2_norm(run.context, norm);  // q, which carries the rule's 1 / sqrt(Dk)
  norm.x = act.conv_out + shape.key_heads * shape.key_dim;
  norm.scale = 1.0f;
  run_l2_norm(run.context, norm);  // k
  run_gated_delta(run.context, {.qkv = act.conv_out,
                                .decay = recurrence.decay,
                                .beta = recurrence.beta,
                                .key_heads = shape.key_heads,
                                .value_heads = shape.value_heads,
                                .key_dim = shape.key_dim,
                                .value_dim = shape.value_dim,
                                .sequences = recurrence.delta.data(),
                                .sequence_count = sequence_count,
                                .out = act.delta_out});
  run.show(stages::kDelta, act.delta_out, shape.value_width());
}

void keep_windows(const LayerRun& run, int64_t index) {
  const int64_t channels = run.config.delta.conv_channels();
  const int64_t heads = run.config.delta.value_heads;
  int64_t first_row = 0;
  for (const BatchSegment& segment : run.segments) {
    if (WindowTrace* window = segment.window) {
      const Activations& act = run.act;
      std::copy_n(act.conv_in + first_row * channels, segment.rows * channels,
                  window->conv_in(index));
      std::copy_n(act.decay + first_row * heads, segment.rows * heads, window->decay(index));
      std::copy_n(act.beta + first_row * heads, segment.rows * heads, window->beta(index));
    }
    first_row += segment.rows;
  }
}

}  // namespace

void run_delta_layer(const LayerRun& run, const DeltaWeights& weights, int64_t index) {
  const GatedDeltaConfig& shape = run.config.delta;
  Activations& act = run.act;
  ProductInput input = {.x = act.normed, .rows = run.rows, .k = run.config.hidden_size};
  project(run, weights.qkv, input, act.conv_in);
  project(run, weights.z, input, act.z);
  project_full(run, weights.a, input, act.a);
  project_full(run, weights.b, input, act.b);
  run_delta_gates(run.context, {.a = act.a,
                                .b = act.b,
                                .negative_a = weights.negative_a.data(),
                                .dt_bias = weights.dt_bias.data(),
                                .rows = run.rows,
                                .heads = shape.value_heads,
                                .decay = act.decay,
                                .beta = act.beta});
  run.show(stages::kQkv, act.conv_in, shape.conv_channels());
  run.show(stages::kZ, act.z, shape.value_width());
  run.show(stages::kA, act.a, shape.value_heads);
  run.show(stages::kB, act.b, shape.value_heads);
  run.show(stages::kDecay, act.decay, shape.value_heads);
  run.show(stages::kBeta, act.beta, shape.value_heads);
  keep_windows(run, index);

  Recurrence recurrence = {
      .conv_in = act.conv_in, .decay = act.decay, .beta = act.beta, .rows = run.rows};
  int64_t first_row = 0;
  for (const BatchSegment& segment : run.segments) {
    recurrence.add(*segment.sequence, index, first_row, segment.rows);
    first_row += segment.rows;
  }
  run_recurrence(run, weights, recurrence);

  const GateFunction gate =
      shape.gate == GateActivation::kSigmoid ? GateFunction::kSigmoid : GateFunction::kSilu;
  run_rms_norm_gated(run.context, {.x = act.delta_out,
                                   .gate = act.z,
                                   .weight = weights.norm.data(),
                                   .function = gate,
                                   .eps = static_cast<float>(run.config.rms_norm_eps),
                                   .rows = run.rows * shape.value_heads,
                                   .n = shape.value_dim,
                                   .y = act.delta_out});
  run.show(stages::kDeltaGated, act.delta_out, shape.value_width());
  ProductInput output = {.x = act.delta_out, .rows = run.rows, .k = shape.value_width()};
  project(run, weights.out, output, act.branch);
}

void replay_window(const LayerRun& run, const DeltaWeights& weights, int64_t index,
                   const BatchSegment& segment, int64_t rows) {
  Recurrence recurrence = {.conv_in = segment.window->conv_in(index),
                           .decay = segment.window->decay(index),
                           .beta = segment.window->beta(index),
                           .rows = rows};
  recurrence.add(*segment.sequence, index, 0, rows);
  run_recurrence(run, weights, recurrence);
}

}  // namespace lockstep
