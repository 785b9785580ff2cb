#include <algorithm>
#include <numeric>

#include "kernels/linear/linear.h"
#include "kernels/moe_combine/moe_combine.h"
#include "kernels/moe_route/moe_route.h"
#include "kernels/silu_mul/silu_mul.h"
#include "model/layer_run.h"

namespace lockstep {
namespace {

// out [rows, H] = down(silu(gate x) * up x); `input` keeps its quantised rows only until down needs
// its own.
void run_gated_ffn(const LayerRun& run, const DenseFfnWeights& weights, ProductInput& input,
                   float* out) {
  Activations& act = run.act;
  project(run, weights.gate, input, act.gate);
  project(run, weights.up, input, act.up);
  run.show(stages::kGate, act.gate, weights.gate.rows);
  run.show(stages::kUp, act.up, weights.up.rows);
  run_silu_mul(
      run.context,
      {.gate = act.gate, .up = act.up, .rows = run.rows, .n = weights.gate.rows, .y = act.gate});
  ProductInput inner = {.x = act.gate, .rows = run.rows, .k = weights.gate.rows};
  project(run, weights.down, inner, out);
  if (inner.is_quantized) input.is_quantized = false;
}

// Sorts the (row, chosen expert) pairs by expert, then by row. Only the order of work follows from
// it: each slot's result goes to its own place.
void sort_slots(const LayerRun& run) {
  const int64_t chosen = run.config.moe.experts_per_token;
  const int64_t experts = run.config.moe.experts;
  const int64_t slots = run.rows * chosen;
  Activations& act = run.act;
  std::fill_n(act.slot_begin, experts + 1, int64_t{0});
  for (int64_t slot = 0; slot < slots; ++slot) ++act.slot_begin[act.expert_ids[slot] + 1];
  std::partial_sum(act.slot_begin, act.slot_begin + experts + 1, act.slot_begin);
  for (int64_t slot = 0; slot < slots; ++slot) {
    const int64_t sorted = act.slot_begin[act.expert_ids[slot]]++;
    act.slot_row[sorted] = slot / chosen;
    act.slot_index[sorted] = slot;
  }
  // The loop above moved each beginning to its end, which is the next one's beginning.
  std::copy_backward(act.slot_begin, act.slot_begin + experts, act.slot_begin + experts + 1);
  act.slot_begin[0] = 0;
  std::iota(act.slot_identity, act.slot_identity + slots, int64_t{0});
}

void run_experts(const LayerRun& run, const MoeWeights& weights, ProductInput& input) {
  Activations& act = run.act;
  const int64_t slots = run.rows * run.config.moe.experts_per_token;
  LinearGroupedArgs product = {.weight = weights.gate,
                               .slot_begin = act.slot_begin,
                               .x_row = act.slot_row,
                               .y_row = act.slot_identity,
                               .x = input.x,
                               .x_quantized = quantized_for(run, weights.gate.first, input),
                               .y = act.expert_gate};
  run_linear_grouped(run.context, product);
  product.weight = weights.up;
  product.x_quantized = quantized_for(run, weights.up.first, input);
  product.y = act.expert_up;
  run_linear_grouped(run.context, product);
  run_silu_mul(run.context, {.gate = act.expert_gate,
                             .up = act.expert_up,
                             .rows = slots,
                             .n = run.config.moe.intermediate,
                             .y = act.expert_gate});
  ProductInput inner = {.x = act.expert_gate, .rows = slots, .k = run.config.moe.intermediate};
  run_linear_grouped(run.context, {.weight = weights.down,
                                   .slot_begin = act.slot_begin,
                                   .x_row = act.slot_identity,
                                   .y_row = act.slot_index,
                                   .x = inner.x,
                                   .x_quantized = quantized_for(run, weights.down.first, inner),
                                   .y = act.expert_down});
}

}  // namespace

void run_dense_ffn(const LayerRun& run, const DenseFfnWeights& weights) {
  ProductInput input = {.x = run.act.normed, .rows = run.rows, .k = run.config.hidden_size};
  run_gated_ffn(run, weights, input, run.act.branch);
}

void run_moe_ffn(const LayerRun& run, const MoeWeights& weights) {
  Activations& act = run.act;
  ProductInput input = {.x = act.normed, .rows = run.rows, .k = run.config.hidden_size};
  project_full(run, weights.router, input, act.router_logits);
  project_full(run, weights.shared_gate, input, act.shared_gate);
  run_moe_route(run.context, {.logits = act.router_logits,
                              .rows = run.rows,
                              .experts = run.config.moe.experts,
                              .chosen = run.config.moe.experts_per_token,
                              .ids = act.expert_ids,
                              .weights = act.expert_weights});
  run.show(stages::kRouter, act.router_logits, run.config.moe.experts);
  run.show(stages::kSharedGate, act.shared_gate, 1);
  run.show(stages::kExpertIds, act.expert_ids, run.config.moe.experts_per_token);
  run.show(stages::kExpertWeights, act.expert_weights, run.config.moe.experts_per_token);
  sort_slots(run);
  run_experts(run, weights, input);
  input.is_quantized = false;  // the experts' inner rows took the place of these
  run_gated_ffn(run, weights.shared, input, act.shared_out);
  run.show(stages::kSharedOut, act.shared_out, run.config.hidden_size);
  run_moe_combine(run.context, {.down = act.expert_down,
                                .weights = act.expert_weights,
                                .shared = act.shared_out,
                                .gate = act.shared_gate,
                                .rows = run.rows,
                                .chosen = run.config.moe.experts_per_token,
                                .n = run.config.hidden_size,
                                .y = act.branch});
}

}  // namespace lockstep
