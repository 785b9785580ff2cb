// Shapes that synthetic checkpoints are made in: the released models of the family, and micro
// shapes for tests.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace lockstep {

// Symbols as in checkpoint/model_config.h.
struct SynthShape {
  std::string_view name;
  std::string_view description;     // one line
  int64_t layers = 0;               // L, a multiple of 4
  int64_t hidden = 0;               // H
  int64_t intermediate = 0;         // F; 0: mixture of experts
  int64_t heads = 0;                // Nq
  int64_t kv_heads = 0;             // Nkv
  int64_t key_heads = 0;            // Hk
  int64_t value_heads = 0;          // Hv
  int64_t experts = 0;              // E; 0: dense
  int64_t experts_per_token = 0;    // k
  int64_t expert_intermediate = 0;  // I and Is
  bool tied = false;                // the embedding is the head too
  int64_t vocab = 0;                // V
  int64_t max_positions = 0;

  // Constant in the family. One MTP layer, every fourth layer is full attention.
  static constexpr int64_t kHeadDim = 256;
  static constexpr int64_t kLinearHeadDim = 128;
  static constexpr int64_t kConvTaps = 4;
  static constexpr int64_t kAttentionInterval = 4;

  bool moe() const { return experts > 0; }
  bool full_attention(int64_t layer) const { return (layer + 1) % kAttentionInterval == 0; }
  int64_t key_width() const { return key_heads * kLinearHeadDim; }           // Kd
  int64_t value_width() const { return value_heads * kLinearHeadDim; }       // Vd
  int64_t conv_channels() const { return 2 * key_width() + value_width(); }  // C
};

std::span<const SynthShape> synth_shapes();

// An unknown name is an error that lists the known ones.
Result<SynthShape> find_synth_shape(std::string_view name);

}  // namespace lockstep
