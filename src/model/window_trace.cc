#include "model/window_trace.h"

#include <algorithm>

namespace lockstep {

WindowTrace::WindowTrace(const ModelConfig& config, int64_t max_rows)
    : max_rows_(max_rows),
      layers_(std::max<int64_t>(
          1, std::count(config.layers.begin(), config.layers.end(), Mixer::kGatedDelta))) {
  const int64_t rows = layers_ * max_rows;
  conv_in_ = Buffer<float>(static_cast<size_t>(rows * config.delta.conv_channels()));
  decay_ = Buffer<float>(static_cast<size_t>(rows * config.delta.value_heads));
  beta_ = Buffer<float>(static_cast<size_t>(rows * config.delta.value_heads));
}

}  // namespace lockstep
