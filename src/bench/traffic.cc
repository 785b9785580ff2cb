#include "bench/traffic.h"

#include <cmath>
#include <variant>

namespace lockstep::bench {
namespace {

double bytes(const MatrixView& matrix) { return static_cast<double>(matrix.total_bytes()); }

double bytes(const std::vector<float>& vector) {
  return static_cast<double>(vector.size() * sizeof(float));
}

double bytes(const DenseFfnWeights& ffn) {
  return bytes(ffn.gate) + bytes(ffn.up) + bytes(ffn.down);
}

double bytes(const AttentionWeights& attention) {
  return bytes(attention.q) + bytes(attention.k) + bytes(attention.v) + bytes(attention.o) +
         bytes(attention.q_norm) + bytes(attention.k_norm);
}

double bytes(const DeltaWeights& delta) {
  return bytes(delta.qkv) + bytes(delta.z) + bytes(delta.a) + bytes(delta.b) + bytes(delta.out) +
         bytes(delta.conv) + bytes(delta.negative_a) + bytes(delta.dt_bias) + bytes(delta.norm);
}

double touched(const MoeWeights& moe, const MoeConfig& config, int64_t rows) {
  const auto experts = static_cast<double>(config.experts);
  const double missed = 1.0 - static_cast<double>(config.experts_per_token) / experts;
  const double chosen = experts * (1.0 - std::pow(missed, static_cast<double>(rows)));
  return chosen * (bytes(moe.gate.first) + bytes(moe.up.first) + bytes(moe.down.first)) +
         bytes(moe.router) + bytes(moe.shared) + bytes(moe.shared_gate);
}

double touched(const LayerWeights& layer, const ModelConfig& config, int64_t rows) {
  const double mixer = std::visit([](const auto& weights) { return bytes(weights); }, layer.mixer);
  const double norms = bytes(layer.input_norm) + bytes(layer.post_attention_norm);
  const auto* dense = std::get_if<DenseFfnWeights>(&layer.ffn);
  const double ffn =
      dense != nullptr ? bytes(*dense) : touched(std::get<MoeWeights>(layer.ffn), config.moe, rows);
  return mixer + norms + ffn;
}

}  // namespace

Traffic decode_traffic(const Model& model, int64_t streams, int64_t depth) {
  const ModelWeights& weights = model.weights();
  const auto rows = static_cast<double>(streams);
  Traffic traffic;
  traffic.weights = rows * bytes(weights.embedding.row_slice(0, 1)) + bytes(weights.final_norm) +
                    bytes(weights.head);
  for (const LayerWeights& layer : weights.layers) {
    traffic.weights += touched(layer, model.config(), streams);
  }
  const StateShape& shape = model.state_shape();
  traffic.state = rows * 2.0 * static_cast<double>(shape.recurrent_floats() * sizeof(float));
  const double per_position = static_cast<double>(shape.page_bytes()) / kKvBlock;
  traffic.kv = rows * per_position * static_cast<double>(depth + 2);
  return traffic;
}

}  // namespace lockstep::bench
