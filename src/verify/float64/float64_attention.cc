#include <array>
#include <cmath>

#include "kernels/attention/reference.h"
#include "kernels/rope/reference.h"
#include "kernels/sigmoid_mul/reference.h"
#include "model/stages.h"
#include "verify/float64/float64_layer.h"

namespace lockstep::verify {
namespace {

// Tables of positions 0 to rows - 1, text.
struct RopeTable {
  Rows cos;  // [rows, R / 2]
  Rows sin;
};

RopeTable rope_rows(const Float64Run& run) {
  const std::vector<float>& frequencies = run.model.rope_frequencies();
  const auto width = static_cast<int64_t>(frequencies.size());
  RopeTable table = {Rows(static_cast<size_t>(run.rows * width)),
                     Rows(static_cast<size_t>(run.rows * width))};
  for (int64_t row = 0; row < run.rows; ++row) {
    const auto p = static_cast<int32_t>(row);
    reference_rope_table(frequencies, run.model.config().rope.mrope_section, run.model.rope_scale(),
                         {p, p, p}, table.cos.data() + row * width, table.sin.data() + row * width);
  }
  return table;
}

Rows rotated(const Float64Run& run, const RopeTable& table, const Rows& x, int64_t heads) {
  const AttentionConfig& shape = run.model.config().attention;
  Rows y(x.size());
  reference_rope({.rows = run.rows,
                  .heads = heads,
                  .head_dim = shape.head_dim,
                  .rotary_dim = shape.rotary_dim},
                 x.data(), table.cos.data(), table.sin.data(), y.data());
  return y;
}

}  // namespace

Rows attention_branch(const Float64Run& run, const AttentionWeights& weights, const Rows& x) {
  const AttentionConfig& shape = run.model.config().attention;
  const int64_t dim = shape.head_dim, q_width = shape.heads * dim, kv_width = shape.kv_heads * dim;
  const Rows query_gate = product(weights.q, x);
  const Rows key = product(weights.k, x);
  const Rows value = product(weights.v, x);
  run.show(stages::kQueryGate, query_gate, 2 * q_width);
  run.show(stages::kKey, key, kv_width);
  run.show(stages::kValue, value, kv_width);

  const RopeTable table = rope_rows(run);
  const Rows q = rotated(
      run, table, normed(run, query_gate.data(), 2 * dim, weights.q_norm, run.rows * shape.heads),
      shape.heads);
  const Rows k =
      rotated(run, table, normed(run, key.data(), dim, weights.k_norm, run.rows * shape.kv_heads),
              shape.kv_heads);
  run.show(stages::kQueryRotated, q, q_width);
  run.show(stages::kKeyRotated, k, kv_width);

  Rows attended(q.size());
  const AttentionArgs args = {.shape = run.model.state_shape().kv,
                              .heads = shape.heads,
                              .scale = 1.0f / std::sqrt(static_cast<float>(dim))};
  reference_attention(
      args, AttentionRows{.count = run.rows, .q = q.data(), .k = k.data(), .v = value.data()},
      attended.data());
  run.show(stages::kAttention, attended, q_width);
  Rows gated(attended.size());
  reference_sigmoid_mul({.gate_stride = 2 * dim, .rows = run.rows * shape.heads, .n = dim},
                        attended.data(), query_gate.data() + dim, gated.data());
  run.show(stages::kAttentionGated, gated, q_width);
  return product(weights.o, gated);
}

}  // namespace lockstep::verify
