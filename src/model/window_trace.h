// What a draft window leaves behind so that its accepted rows can be run again through the
// recurrent layers by the same kernels: recurrent state cannot be cut back (docs/numerics.md, rule
// 20).
#pragma once

#include <cstdint>

#include "base/buffer.h"

namespace lockstep {

struct WindowTrace {
  // Room for `max_rows` rows in every delta layer.
  WindowTrace(int64_t delta_layers, int64_t conv_channels, int64_t value_heads, int64_t max_rows)
      : max_rows(max_rows),
        conv_channels(conv_channels),
        value_heads(value_heads),
        u(static_cast<size_t>(delta_layers * max_rows * conv_channels)),
        decay(static_cast<size_t>(delta_layers * max_rows * value_heads)),
        beta(static_cast<size_t>(delta_layers * max_rows * value_heads)) {}

  float* u_rows(int64_t layer) { return u.data() + layer * max_rows * conv_channels; }
  float* decay_rows(int64_t layer) { return decay.data() + layer * max_rows * value_heads; }
  float* beta_rows(int64_t layer) { return beta.data() + layer * max_rows * value_heads; }

  int64_t max_rows;
  int64_t conv_channels;
  int64_t value_heads;
  Buffer<float> u;      // [delta layer, row, C], before the convolution
  Buffer<float> decay;  // [delta layer, row, Hv]
  Buffer<float> beta;   // [delta layer, row, Hv]
};

}  // namespace lockstep
