// What the layer functions of one forward pass share.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/cpu_context.h"
#include "model/activations.h"
#include "model/precision.h"
#include "model/row_batch.h"
#include "model/sequence_state.h"
#include "model/stages.h"
#include "model/weights.h"

namespace lockstep {

struct LayerRun {
  const ModelConfig& config;
  Precision precision;
  const CpuContext& context;
  Activations& act;
  std::span<const BatchSegment> segments;
  int64_t rows;
  const StageTap* tap = nullptr;  // null: nobody looks
  int64_t layer = 0;              // as stages.h counts them
  const ResidualEdit* edit = nullptr;

  // Shows `rows` rows of a stage to the tap.
  void show(std::string_view stage, const float* data, int64_t width) const;
  // The same for whole numbers.
  void show(std::string_view stage, const int32_t* data, int64_t width) const;
  // Lets the edit change the residual stream, then shows it.
  void show_residual(std::string_view stage) const;
};

// Rows that meet several matrices in turn: quantised at most once.
struct ProductInput {
  const float* x = nullptr;  // [rows, k]
  int64_t rows = 0;
  int64_t k = 0;
  bool is_quantized = false;  // act.quantized holds these rows
};

// y [rows, N] = x W^T in the precision of the run; its rows `stride` apart, 0: N.
void project(const LayerRun& run, const MatrixView& weight, ProductInput& input, float* y,
             int64_t stride = 0);
// The same with float32 activations whatever the precision (docs/numerics.md, rule 3).
void project_full(const LayerRun& run, const MatrixView& weight, const ProductInput& input,
                  float* y);
// Quantised rows of `input` if the weight's encoding and the precision take them, else null.
const ActivationBlock* quantized_for(const LayerRun& run, const MatrixView& weight,
                                     ProductInput& input);

// Each reads act.normed and writes act.branch. `index` counts the layers of its own kind.
void run_attention_layer(const LayerRun& run, const AttentionWeights& weights, int64_t index);
void run_delta_layer(const LayerRun& run, const DeltaWeights& weights, int64_t index);
void run_dense_ffn(const LayerRun& run, const DenseFfnWeights& weights);
void run_moe_ffn(const LayerRun& run, const MoeWeights& weights);

// One layer: residual += mixer(norm(residual)); residual += ffn(norm(residual)).
void run_layer(const LayerRun& run, const LayerWeights& weights, int64_t index);

// act.normed = rms_norm of `rows` rows of x.
void run_norm(const LayerRun& run, const float* x, const std::vector<float>& weight, float* y);

// Runs the first `rows` rows of a window through a delta layer's convolution and recurrence again,
// from the committed state into the other copy.
void replay_window(const LayerRun& run, const DeltaWeights& weights, int64_t index,
                   const BatchSegment& segment, int64_t rows);

}  // namespace lockstep
