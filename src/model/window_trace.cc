#include "model/window_trace.h"

#include <algorithm>

namespace lockstep {
namespace {

int64_t delta_layers(const ModelConfig& config) {
  return std::count(config.layers.begin(), config.layers.end(), Mixer::kGatedDelta);
}

}  // namespace

size_t WindowTrace::bytes(const ModelConfig& config, int64_t max_rows) {
  const int64_t width = config.delta.conv_channels() + 2 * config.delta.value_heads;
  return static_cast<size_t>(delta_layers(config) * max_rows * width) * sizeof(float);
}

WindowTrace::WindowTrace(const ModelConfig& config, int64_t max_rows)
    : max_rows_(max_rows), layers_(std::max<int64_t>(1, delta_layers(config))) {
  const int64_t rows = layers_ * max_rows;
  conv_in_ = Buffer<float>(static_cast<size_t>(rows * config.delta.conv_channels()));
  decay_ = Buffer<float>(static_cast<size_t>(rows * config.delta.value_heads));
  beta_ = Buffer<float>(static_cast<size_t>(rows * config.delta.value_heads));
}

}  // namespace lockstep
