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
  // Sequences that can run side by side. A segment with marks runs as several parts, each from the
  // state that the one before left, so they stand in steps of their own.
  struct Step {
    std::vector<ConvSequence> conv;
    std::vector<DeltaSequence> delta;
  };

  const float* conv_in = nullptr;  // [rows, C]
  const float* decay = nullptr;    // [rows, Hv]
  const float* beta = nullptr;     // [rows, Hv]
  int64_t rows = 0;
  std::vector<Step> steps = {};

  void add(const BatchSegment& segment, int64_t index, int64_t first_row, int64_t row_count);
};

void Recurrence::add(const BatchSegment& segment, int64_t index, int64_t first_row,
                     int64_t row_count) {
  SequenceState& sequence = *segment.sequence;
  const StateShape& shape = sequence.shape();
  const float* conv_from = sequence.conv_in(index);
  int64_t done = 0;
  for (size_t part = 0; done < row_count; ++part) {
    StateMark* mark = part < segment.marks.size() ? &segment.marks[part] : nullptr;
    const int64_t end =
        mark ? std::min(row_count, mark->position - sequence.position()) : row_count;
    float* conv_to =
        mark ? mark->recurrent->data() + index * shape.layer_floats() : sequence.conv_out(index);
    if (part == steps.size()) steps.emplace_back();
    steps[part].conv.push_back({.first_row = first_row + done,
                                .rows = end - done,
                                .state_in = conv_from,
                                .state_out = conv_to});
    steps[part].delta.push_back({.first_row = first_row + done,
                                 .rows = end - done,
                                 .state_in = conv_from + shape.conv_floats,
                                 .state_out = conv_to + shape.conv_floats});
    conv_from = conv_to;
    done = end;
  }
}

void run_recurrence(const LayerRun& run, const DeltaWeights& weights,
                    const Recurrence& recurrence) {
  const GatedDeltaConfig& shape = run.config.delta;
  Activations& act = run.act;
  for (const Recurrence::Step& step : recurrence.steps) {
    run_conv1d_causal(run.context, {.u = recurrence.conv_in,
                                    .weight = weights.conv.data(),
                                    .channels = shape.conv_channels(),
                                    .sequences = step.conv.data(),
                                    .sequence_count = static_cast<int64_t>(step.conv.size()),
                                    .out = act.conv_out});
  }
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
  for (const Recurrence::Step& step : recurrence.steps) {
    run_gated_delta(run.context, {.qkv = act.conv_out,
                                  .decay = recurrence.decay,
                                  .beta = recurrence.beta,
                                  .key_heads = shape.key_heads,
                                  .value_heads = shape.value_heads,
                                  .key_dim = shape.key_dim,
                                  .value_dim = shape.value_dim,
                                  .tiled_heads = shape.order == ValueHeads::kTiled,
                                  .sequences = step.delta.data(),
                                  .sequence_count = static_cast<int64_t>(step.delta.size()),
                                  .out = act.delta_out});
  }
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
    recurrence.add(segment, index, first_row, segment.rows);
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
  recurrence.add({.sequence = segment.sequence, .rows = rows}, index, 0, rows);
  run_recurrence(run, weights, recurrence);
}

}  // namespace lockstep
