#include <algorithm>

#include "kernels/moe_combine/reference.h"
#include "kernels/moe_route/reference.h"
#include "kernels/silu_mul/reference.h"
#include "model/stages.h"
#include "verify/float64/float64_layer.h"

namespace lockstep::verify {
namespace {

Rows activated(const Rows& gate, const Rows& up) {
  Rows y(gate.size());
  reference_silu_mul({.rows = 1, .n = static_cast<int64_t>(y.size())}, gate.data(), up.data(),
                     y.data());
  return y;
}

// down [rows, k, H] of every slot: each expert runs over the rows that chose it.
Rows expert_rows(const Float64Run& run, const MoeWeights& weights, const Rows& x,
                 const std::vector<int32_t>& ids) {
  const int64_t hidden = run.model.config().hidden_size;
  const int64_t chosen = run.model.config().moe.experts_per_token;
  Rows down(ids.size() * static_cast<size_t>(hidden));
  for (int64_t expert = 0; expert < weights.gate.count; ++expert) {
    std::vector<int64_t> slots;
    Rows input;
    for (size_t slot = 0; slot < ids.size(); ++slot) {
      if (ids[slot] != expert) continue;
      const auto row = x.begin() + static_cast<int64_t>(slot) / chosen * hidden;
      slots.push_back(static_cast<int64_t>(slot));
      input.insert(input.end(), row, row + hidden);
    }
    if (slots.empty()) continue;
    const Rows out = product(
        weights.down.at(expert),
        activated(product(weights.gate.at(expert), input), product(weights.up.at(expert), input)));
    for (size_t i = 0; i < slots.size(); ++i) {
      std::copy_n(out.begin() + static_cast<int64_t>(i) * hidden, hidden,
                  down.begin() + slots[i] * hidden);
    }
  }
  return down;
}

}  // namespace

Rows ffn_branch(const Float64Run& run, const DenseFfnWeights& weights, const Rows& x) {
  const Rows gate = product(weights.gate, x);
  const Rows up = product(weights.up, x);
  run.show(stages::kGate, gate, weights.gate.rows);
  run.show(stages::kUp, up, weights.up.rows);
  return product(weights.down, activated(gate, up));
}

Rows ffn_branch(const Float64Run& run, const MoeWeights& weights, const Rows& x) {
  const MoeConfig& shape = run.model.config().moe;
  const int64_t hidden = run.model.config().hidden_size;
  const Rows logits = product(weights.router, x);
  const Rows shared_gate = product(weights.shared_gate, x);
  const auto slots = static_cast<size_t>(run.rows * shape.experts_per_token);
  std::vector<int32_t> ids(slots);
  Rows slot_weights(slots);
  reference_moe_route(
      {.rows = run.rows, .experts = shape.experts, .chosen = shape.experts_per_token},
      logits.data(), ids.data(), slot_weights.data());
  run.show(stages::kRouter, logits, shape.experts);
  run.show(stages::kSharedGate, shared_gate, 1);
  run.show(stages::kExpertIds, Rows(ids.begin(), ids.end()), shape.experts_per_token);
  run.show(stages::kExpertWeights, slot_weights, shape.experts_per_token);

  const Rows down = expert_rows(run, weights, x, ids);
  const Rows shared = ffn_branch(run, weights.shared, x);
  run.show(stages::kSharedOut, shared, hidden);
  Rows y(shared.size());
  reference_moe_combine({.rows = run.rows, .chosen = shape.experts_per_token, .n = hidden},
                        down.data(), slot_weights.data(), shared.data(), shared_gate.data(),
                        y.data());
  return y;
}

}  // namespace lockstep::verify
