#include "model/state_shape.h"

#include <algorithm>

namespace lockstep {

StateShape state_shape(const ModelConfig& config, KvType kv_type) {
  const GatedDeltaConfig& delta = config.delta;
  StateShape shape = draft_state_shape(config, kv_type);
  shape.attention_layers =
      std::count(config.layers.begin(), config.layers.end(), Mixer::kFullAttention);
  shape.delta_layers = static_cast<int64_t>(config.layers.size()) - shape.attention_layers;
  shape.conv_floats = (delta.conv_kernel - 1) * delta.conv_channels();
  shape.delta_floats = delta.value_heads * delta.key_dim * delta.value_dim;
  return shape;
}

StateShape draft_state_shape(const ModelConfig& config, KvType kv_type) {
  return {.attention_layers = 1,
          .kv = {.type = kv_type,
                 .kv_heads = config.attention.kv_heads,
                 .head_dim = config.attention.head_dim}};
}

}  // namespace lockstep
