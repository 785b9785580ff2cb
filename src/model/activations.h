// The intermediate values of a forward pass, named as the stages are, in one allocation. R rows at
// the most, LR logit rows; other letters are those of checkpoint/model_config.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "checkpoint/model_config.h"
#include "kernels/linear/quantized_rows.h"

namespace lockstep {

struct PassLimits;

// Hands out aligned pieces of a block; without a block it only counts.
class Carver {
 public:
  explicit Carver(std::byte* block) : block_(block) {}

  template <typename T>
  T* take(int64_t count) {
    const size_t begin = used_;
    const size_t bytes = static_cast<size_t>(count) * sizeof(T);
    used_ += (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    return block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + begin);
  }
  size_t used() const { return used_; }

 private:
  std::byte* block_;
  size_t used_ = 0;
};

struct Activations {
  Activations(const ModelConfig& config, const PassLimits& limits, Carver& carver);

  float* residual;  // [R, H]
  float* normed;    // [R, H]: input of a mixer or FFN; at the end, after the final norm
  float* branch;    // [R, H]: output of a mixer or FFN, before it joins the residual stream
  float* cos;       // [R, rotary / 2]
  float* sin;       // [R, rotary / 2]
  ActivationBlock* quantized;  // [R, ...] of the widest product input

  // Full attention
  float* query_gate;  // [R, Nq, 2 Dh]: q_proj's output, per head query and gate
  float* query;       // [R, Nq, Dh]
  float* key;         // [R, Nkv, Dh]
  float* value;       // [R, Nkv, Dh]
  float* attended;    // [R, Nq, Dh]

  // Gated DeltaNet
  float* conv_in;    // [R, C]
  float* conv_out;   // [R, C]: q, k, v
  float* z;          // [R, Vd]
  float* a;          // [R, Hv]
  float* b;          // [R, Hv]
  float* decay;      // [R, Hv]
  float* beta;       // [R, Hv]
  float* delta_out;  // [R, Vd]

  // FFN: dense, or the shared expert
  float* gate;  // [R, F]
  float* up;    // [R, F]

  // Mixture of experts; a slot is a (row, chosen expert) pair
  float* router_logits;    // [R, E]
  int32_t* expert_ids;     // [R, k]
  float* expert_weights;   // [R, k]
  int64_t* slot_begin;     // [E + 1]: slots sorted by expert
  int64_t* slot_row;       // [R k]: row of each sorted slot
  int64_t* slot_index;     // [R k]: row * k + its place among the row's experts
  int64_t* slot_identity;  // [R k]: 0, 1, 2, ...
  float* expert_gate;      // [R k, I], sorted slots
  float* expert_up;        // [R k, I], sorted slots
  float* expert_down;      // [R, k, H]
  float* shared_out;       // [R, H]
  float* shared_gate;      // [R]

  // Head
  float* final_rows;     // [LR, H]
  float* logits;         // [LR, V]
  int64_t* fault_layer;  // [R]: layer of the first value that is not finite

  // Draft head
  float* draft_input;  // [R, 2H]: normed embedding, normed hidden
  float* draft_half;   // [R, H]
};

}  // namespace lockstep
