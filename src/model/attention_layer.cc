#include <cmath>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/kv_store/kv_store.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/sigmoid_mul/sigmoid_mul.h"
#include "model/layer_run.h"

namespace lockstep {
namespace {

std::vector<KvSequence> kv_sequences(const LayerRun& run, int64_t index) {
  std::vector<KvSequence> sequences;
  int64_t first_row = 0;
  for (const BatchSegment& segment : run.segments) {
    sequences.push_back({.first_row = first_row,
                         .rows = segment.rows,
                         .first_position = segment.sequence->position(),
                         .blocks = segment.sequence->blocks(index)});
    first_row += segment.rows;
  }
  return sequences;
}

// Norm and rotation of the queries (each followed by its gate in q_proj's output) and of the keys.
void prepare_heads(const LayerRun& run, const AttentionWeights& weights) {
  const AttentionConfig& shape = run.config.attention;
  Activations& act = run.act;
  const auto eps = static_cast<float>(run.config.rms_norm_eps);
  run_rms_norm(run.context, {.x = act.query_gate,
                             .x_stride = 2 * shape.head_dim,
                             .weight = weights.q_norm.data(),
                             .eps = eps,
                             .rows = run.rows * shape.heads,
                             .n = shape.head_dim,
                             .y = act.query});
  run_rms_norm(run.context, {.x = act.key,
                             .x_stride = shape.head_dim,
                             .weight = weights.k_norm.data(),
                             .eps = eps,
                             .rows = run.rows * shape.kv_heads,
                             .n = shape.head_dim,
                             .y = act.key});
  RopeArgs rope = {.x = act.query,
                   .rows = run.rows,
                   .heads = shape.heads,
                   .head_dim = shape.head_dim,
                   .rotary_dim = shape.rotary_dim,
                   .cos = act.cos,
                   .sin = act.sin};
  run_rope(run.context, rope);
  rope.x = act.key;
  rope.heads = shape.kv_heads;
  run_rope(run.context, rope);
}

}  // namespace

void run_attention_layer(const LayerRun& run, const AttentionWeights& weights, int64_t index) {
  const AttentionConfig& shape = run.config.attention;
  Activations& act = run.act;
  ProductInput input = {.x = act.normed, .rows = run.rows, .k = run.config.hidden_size};
  const int64_t q_width = shape.heads * shape.head_dim;
  const int64_t kv_width = shape.kv_heads * shape.head_dim;
  project(run, weights.q, input, act.query_gate);
  project(run, weights.k, input, act.key);
  project(run, weights.v, input, act.value);
  run.show(stages::kQueryGate, act.query_gate, 2 * q_width);
  run.show(stages::kKey, act.key, kv_width);
  run.show(stages::kValue, act.value, kv_width);
  prepare_heads(run, weights);
  run.show(stages::kQueryRotated, act.query, q_width);
  run.show(stages::kKeyRotated, act.key, kv_width);

  const std::vector<KvSequence> sequences = kv_sequences(run, index);
  const KvShape& kv = run.segments.front().sequence->shape().kv;
  run_kv_store(run.context, {.shape = kv,
                             .k = act.key,
                             .v = act.value,
                             .sequences = sequences.data(),
                             .sequence_count = static_cast<int64_t>(sequences.size())});
  // Exact: head dimensions are powers of four in every release; the reciprocal root is rounded once
  // otherwise.
  const float scale = 1.0f / std::sqrt(static_cast<float>(shape.head_dim));
  run_attention(run.context, {.shape = kv,
                              .heads = shape.heads,
                              .scale = scale,
                              .q = act.query,
                              .sequences = sequences.data(),
                              .sequence_count = static_cast<int64_t>(sequences.size()),
                              .out = act.attended});
  run.show(stages::kAttention, act.attended, q_width);
  run_sigmoid_mul(run.context, {.x = act.attended,
                                .gate = act.query_gate + shape.head_dim,
                                .gate_stride = 2 * shape.head_dim,
                                .rows = run.rows * shape.heads,
                                .n = shape.head_dim});
  run.show(stages::kAttentionGated, act.attended, q_width);
  ProductInput attended = {.x = act.attended, .rows = run.rows, .k = q_width};
  project(run, weights.o, attended, act.branch);
}

}  // namespace lockstep
