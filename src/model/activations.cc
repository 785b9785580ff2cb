#include "model/activations.h"

#include <algorithm>

#include "model/forward_pass.h"

namespace lockstep {

Activations::Activations(const ModelConfig& config, const PassLimits& limits, Carver& carver) {
  const int64_t rows = limits.rows;
  const int64_t hidden = config.hidden_size;
  const int64_t rotary = config.attention.rotary_dim / 2;
  const int64_t q_width = config.attention.heads * config.attention.head_dim;
  const int64_t kv_width = config.attention.kv_heads * config.attention.head_dim;
  const int64_t channels = config.delta.conv_channels();
  const int64_t value_width = config.delta.value_width();
  const int64_t value_heads = config.delta.value_heads;
  const bool moe = config.ffn == Ffn::kMoe;
  const int64_t ffn_width = moe ? config.moe.shared_intermediate : config.intermediate_size;
  const int64_t slots = moe ? rows * config.moe.experts_per_token : 0;

  residual = carver.take<float>(rows * hidden);
  normed = carver.take<float>(rows * hidden);
  branch = carver.take<float>(rows * hidden);
  cos = carver.take<float>(rows * rotary);
  sin = carver.take<float>(rows * rotary);

  const int64_t widest = std::max({2 * hidden, q_width, value_width, ffn_width});
  quantized = carver.take<ActivationBlock>(
      std::max(rows * activation_blocks(widest),
               slots * activation_blocks(moe ? config.moe.intermediate : 0)));

  query_gate = carver.take<float>(rows * 2 * q_width);
  query = carver.take<float>(rows * q_width);
  key = carver.take<float>(rows * kv_width);
  value = carver.take<float>(rows * kv_width);
  attended = carver.take<float>(rows * q_width);

  conv_in = carver.take<float>(rows * channels);
  conv_out = carver.take<float>(rows * channels);
  z = carver.take<float>(rows * value_width);
  a = carver.take<float>(rows * value_heads);
  b = carver.take<float>(rows * value_heads);
  decay = carver.take<float>(rows * value_heads);
  beta = carver.take<float>(rows * value_heads);
  delta_out = carver.take<float>(rows * value_width);

  gate = carver.take<float>(rows * ffn_width);
  up = carver.take<float>(rows * ffn_width);

  router_logits = carver.take<float>(moe ? rows * config.moe.experts : 0);
  expert_ids = carver.take<int32_t>(slots);
  expert_weights = carver.take<float>(slots);
  slot_begin = carver.take<int64_t>(moe ? config.moe.experts + 1 : 0);
  slot_row = carver.take<int64_t>(slots);
  slot_index = carver.take<int64_t>(slots);
  slot_identity = carver.take<int64_t>(slots);
  expert_gate = carver.take<float>(slots * config.moe.intermediate);
  expert_up = carver.take<float>(slots * config.moe.intermediate);
  expert_down = carver.take<float>(slots * hidden);
  shared_out = carver.take<float>(moe ? rows * hidden : 0);
  shared_gate = carver.take<float>(moe ? rows : 0);

  final_rows = carver.take<float>(limits.logit_rows * hidden);
  logits = carver.take<float>(limits.logit_rows * config.vocab_size);
  fault_layer = carver.take<int64_t>(rows);

  const int64_t draft_rows = config.mtp_layers > 0 ? rows : 0;
  draft_input = carver.take<float>(draft_rows * 2 * hidden);
  draft_half = carver.take<float>(draft_rows * hidden);
}

}  // namespace lockstep
