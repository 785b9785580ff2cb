// The tensors that a model of some configuration consists of: names, shapes, and what a layout may
// do to each. The one list behind whatever walks over a whole model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/model_config.h"

namespace lockstep {

enum class TensorKind : uint8_t {
  kMatrix,           // [rows, cols]
  kExperts,          // `count` matrices [rows, cols]
  kZeroCentredNorm,  // [cols], w or 1 + w
  kVector,           // [cols]
  kDecay,            // [cols], A_log or -exp(A_log)
  kConvolution,      // [rows, cols]: channels and taps
};

// Which of a tensor's rows or columns belong to value heads, and so are in the order of the layout
// (ValueHeads): all from `begin` on, `size` for each head. The entries of vectors are columns.
struct HeadSpan {
  enum class Axis : uint8_t { kNone, kRows, kColumns };
  Axis axis = Axis::kNone;
  int64_t begin = 0;
  int64_t size = 1;
};

struct ModelTensor {
  // Canonical, except that experts are "...mlp.switch_mlp.{gate,up,down}_proj.weight" always.
  std::string name;
  TensorKind kind = TensorKind::kMatrix;
  int64_t count = 1;
  int64_t rows = 1;
  int64_t cols = 0;
  HeadSpan heads = {};

  bool draft() const { return name.starts_with("mtp."); }
  bool matrix() const { return kind == TensorKind::kMatrix || kind == TensorKind::kExperts; }
  // The name without ".weight".
  std::string module() const;
};

// Layer by layer, the draft head last where mtp_layers says that there is one. `own_head`: lm_head
// is stored.
std::vector<ModelTensor> model_tensors(const ModelConfig& config, bool own_head);

}  // namespace lockstep
