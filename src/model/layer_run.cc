#include "model/layer_run.h"

#include <variant>
#include <vector>

#include "kernels/add/add.h"
#include "kernels/linear/linear.h"
#include "kernels/rms_norm/rms_norm.h"

namespace lockstep {

void LayerRun::show(std::string_view stage, const float* data, int64_t width) const {
  if (tap != nullptr) (*tap)(stage, layer, {data, static_cast<size_t>(rows * width)}, width);
}

void LayerRun::show(std::string_view stage, const int32_t* data, int64_t width) const {
  if (tap == nullptr) return;
  const std::vector<float> values(data, data + rows * width);
  show(stage, values.data(), width);
}

void LayerRun::show_residual(std::string_view stage) const {
  const int64_t width = config.hidden_size;
  if (edit != nullptr) (*edit)(layer, {act.residual, static_cast<size_t>(rows * width)});
  show(stage, act.residual, width);
}

const ActivationBlock* quantized_for(const LayerRun& run, const MatrixView& weight,
                                     ProductInput& input) {
  if (run.precision == Precision::kFull || !takes_int8(weight)) return nullptr;
  if (!input.is_quantized) {
    run_quantize_rows(run.context,
                      {.x = input.x, .rows = input.rows, .k = input.k, .out = run.act.quantized});
    input.is_quantized = true;
  }
  return run.act.quantized;
}

void project(const LayerRun& run, const MatrixView& weight, ProductInput& input, float* y,
             int64_t stride) {
  run_linear(run.context, {.weight = weight,
                           .x = input.x,
                           .x_quantized = quantized_for(run, weight, input),
                           .rows = input.rows,
                           .y = y,
                           .y_stride = stride == 0 ? weight.rows : stride});
}

void project_full(const LayerRun& run, const MatrixView& weight, const ProductInput& input,
                  float* y) {
  run_linear(run.context,
             {.weight = weight, .x = input.x, .rows = input.rows, .y = y, .y_stride = weight.rows});
}

void run_norm(const LayerRun& run, const float* x, const std::vector<float>& weight, float* y) {
  run_rms_norm(run.context, {.x = x,
                             .x_stride = run.config.hidden_size,
                             .weight = weight.data(),
                             .eps = static_cast<float>(run.config.rms_norm_eps),
                             .rows = run.rows,
                             .n = run.config.hidden_size,
                             .y = y});
}

void run_layer(const LayerRun& run, const LayerWeights& weights, int64_t index) {
  Activations& act = run.act;
  const int64_t hidden = run.config.hidden_size;
  const AddArgs join = {.x = act.residual, .y = act.branch, .rows = run.rows, .n = hidden};
  run_norm(run, act.residual, weights.input_norm, act.normed);
  run.show(stages::kMixerNorm, act.normed, hidden);
  if (const auto* attention = std::get_if<AttentionWeights>(&weights.mixer)) {
    run_attention_layer(run, *attention, index);
  } else {
    run_delta_layer(run, std::get<DeltaWeights>(weights.mixer), index);
  }
  run.show(stages::kMixerBranch, act.branch, hidden);
  run_add(run.context, join);
  run.show(stages::kMixerResidual, act.residual, hidden);
  run_norm(run, act.residual, weights.post_attention_norm, act.normed);
  run.show(stages::kFfnNorm, act.normed, hidden);
  if (const auto* dense = std::get_if<DenseFfnWeights>(&weights.ffn)) {
    run_dense_ffn(run, *dense);
  } else {
    run_moe_ffn(run, std::get<MoeWeights>(weights.ffn));
  }
  run.show(stages::kFfnBranch, act.branch, hidden);
  run_add(run.context, join);
  run.show_residual(stages::kLayer);
}

}  // namespace lockstep
