// Sizes of what a sequence keeps between rounds, from the configuration alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "checkpoint/model_config.h"
#include "kernels/kv_store/kv_store.h"

namespace lockstep {

struct StateShape {
  int64_t delta_layers = 0;      // layers with recurrent and convolution state
  int64_t attention_layers = 0;  // layers with keys and values
  int64_t conv_floats = 0;       // per delta layer: [3, C]
  int64_t delta_floats = 0;      // per delta layer: [Hv, Dk, Dv]
  KvShape kv;

  // Convolution state and then recurrent state of one delta layer.
  int64_t layer_floats() const { return conv_floats + delta_floats; }
  // One copy of the recurrent and convolution state of all layers; a sequence holds two.
  size_t recurrent_floats() const { return static_cast<size_t>(delta_layers * layer_floats()); }
  // Keys and values of 64 positions in all attention layers.
  size_t page_bytes() const { return static_cast<size_t>(attention_layers) * kv.block_bytes(); }
};

StateShape state_shape(const ModelConfig& config, KvType kv_type);

// The draft head's: one attention layer and nothing recurrent.
StateShape draft_state_shape(const ModelConfig& config, KvType kv_type);

}  // namespace lockstep
