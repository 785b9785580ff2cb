// What a draft window leaves behind so that its accepted rows can be run again through the
// recurrent layers by the same kernels: recurrent state cannot be cut back (docs/numerics.md, rule
// 20).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.h"
#include "checkpoint/model_config.h"

namespace lockstep {

class WindowTrace {
 public:
  // Room for `max_rows` rows in every delta layer.
  WindowTrace(const ModelConfig& config, int64_t max_rows);

  static size_t bytes(const ModelConfig& config, int64_t max_rows);

  int64_t max_rows() const { return max_rows_; }
  // [rows, C], before the convolution.
  float* conv_in(int64_t layer) { return at(conv_in_, layer); }
  // [rows, Hv]
  float* decay(int64_t layer) { return at(decay_, layer); }
  float* beta(int64_t layer) { return at(beta_, layer); }

 private:
  float* at(Buffer<float>& all, int64_t layer) {
    return all.data() + layer * (static_cast<int64_t>(all.size()) / layers_);
  }

  int64_t max_rows_;
  int64_t layers_;  // at least 1, so that a model without delta layers divides nothing by zero
  Buffer<float> conv_in_;
  Buffer<float> decay_;
  Buffer<float> beta_;
};

}  // namespace lockstep
