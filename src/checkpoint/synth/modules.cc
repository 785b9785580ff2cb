#include "checkpoint/synth/modules.h"

#include <fmt/format.h>

#include <cmath>

namespace lockstep {
namespace {

// Standard deviations are gain / sqrt(inputs): the outputs of inputs of size 1 have size `gain`.
// The gains of layer outputs undo what lies before them (a SiLU gate leaves about 0.6 of a unit
// input, attention over many keys less), then every layer adds 1 / sqrt(2 L) to the residual, which
// so ends near 1.
constexpr float kDeltaOutGain = 1.8f;
constexpr float kAttentionOutGain = 4.0f;
constexpr float kFfnOutGain = 1.7f;
constexpr float kExpertOutGain = 2.5f;
constexpr float kRouterGain = 2.0f;
constexpr float kHeadGain = 1.5f;  // the final norm is near 1.9: logits deviate by about 2.9
constexpr float kUntiedEmbedding = 0.3f;
constexpr float kConvTap = 0.5f;

// Ranges measured on released weights: -exp(A_log) over [-0.338, -0.0038], dt_bias over
// [-5.7, 19.25]; decays span from under 0.01 to nearly 1.
constexpr Fill kALog = {Distribution::kRange, -5.573f, 4.488f};
constexpr Fill kDtBias = {Distribution::kLowRange, -5.7f, 24.95f};

constexpr Fill kLayerNorm = {Distribution::kNorm, 0.0f, 0.15f};
constexpr Fill kHeadNorm = {Distribution::kNorm, 0.4f, 0.1f};
constexpr Fill kFinalNorm = {Distribution::kNorm, 0.9f, 0.1f};
constexpr Fill kGatedNorm = {Distribution::kNorm, 0.9f, 0.1f};
// Readers tell the norm convention of a draft head by the sign of this mean.
constexpr Fill kMtpEmbeddingNorm = {Distribution::kNorm, -0.44f, 0.08f};
constexpr Fill kMtpHiddenNorm = {Distribution::kNorm, -0.2f, 0.1f};

class ModuleList {
 public:
  explicit ModuleList(const SynthShape& shape) : shape_(shape) {}

  void add_trunk() {
    const int64_t h = shape_.hidden;
    const float head_spread = kHeadGain / std::sqrt(static_cast<float>(h));
    add("model.embed_tokens.weight", {shape_.vocab, h}, ModuleKind::kMatrix,
        {.spread = shape_.tied ? head_spread : kUntiedEmbedding});
    layer_gain_ = 1.0f / std::sqrt(2.0f * static_cast<float>(shape_.layers));
    for (int64_t i = 0; i < shape_.layers; ++i) {
      add_layer(fmt::format("model.layers.{}.", i), shape_.full_attention(i));
    }
    add_norm("model.norm.weight", h, kFinalNorm);
    if (!shape_.tied) matrix("lm_head", shape_.vocab, h, kHeadGain);
  }

  void add_mtp() {
    const int64_t h = shape_.hidden;
    matrix("mtp.fc", h, 2 * h, kHeadGain);
    add_norm("mtp.pre_fc_norm_embedding.weight", h, kMtpEmbeddingNorm);
    add_norm("mtp.pre_fc_norm_hidden.weight", h, kMtpHiddenNorm);
    layer_gain_ = 0.7f;
    add_layer("mtp.layers.0.", true);
    add_norm("mtp.norm.weight", h, kFinalNorm);
  }

  std::vector<SynthModule> take() { return std::move(modules_); }

 private:
  void add(std::string name, std::vector<int64_t> shape, ModuleKind kind, const Fill& fill) {
    modules_.push_back({std::move(name), std::move(shape), kind, fill});
  }
  void add_norm(std::string name, int64_t size, const Fill& fill) {
    add(std::move(name), {size}, ModuleKind::kZeroCentredNorm, fill);
  }
  void matrix(const std::string& path, int64_t rows, int64_t cols, float gain = 1.0f) {
    add(path + ".weight", {rows, cols}, ModuleKind::kMatrix,
        {.spread = gain / std::sqrt(static_cast<float>(cols))});
  }
  void experts(const std::string& path, int64_t rows, int64_t cols, float gain = 1.0f) {
    matrix(path, rows, cols, gain);
    modules_.back().shape.insert(modules_.back().shape.begin(), shape_.experts);
  }

  void add_layer(const std::string& prefix, bool full_attention) {
    add_norm(prefix + "input_layernorm.weight", shape_.hidden, kLayerNorm);
    if (full_attention) {
      add_attention(prefix + "self_attn.");
    } else {
      add_delta(prefix + "linear_attn.");
    }
    add_norm(prefix + "post_attention_layernorm.weight", shape_.hidden, kLayerNorm);
    if (shape_.moe()) {
      add_moe(prefix + "mlp.");
    } else {
      add_ffn(prefix + "mlp.", shape_.intermediate);
    }
  }

  void add_attention(const std::string& prefix) {
    const int64_t h = shape_.hidden;
    const int64_t width = shape_.heads * SynthShape::kHeadDim;
    const int64_t kv_width = shape_.kv_heads * SynthShape::kHeadDim;
    matrix(prefix + "q_proj", 2 * width, h);  // query and gate of each head
    matrix(prefix + "k_proj", kv_width, h);
    matrix(prefix + "v_proj", kv_width, h);
    matrix(prefix + "o_proj", h, width, kAttentionOutGain * layer_gain_);
    add_norm(prefix + "q_norm.weight", SynthShape::kHeadDim, kHeadNorm);
    add_norm(prefix + "k_norm.weight", SynthShape::kHeadDim, kHeadNorm);
  }

  void add_delta(const std::string& prefix) {
    const int64_t h = shape_.hidden;
    matrix(prefix + "in_proj_qkv", shape_.conv_channels(), h);
    matrix(prefix + "in_proj_z", shape_.value_width(), h);
    matrix(prefix + "in_proj_b", shape_.value_heads, h);
    matrix(prefix + "in_proj_a", shape_.value_heads, h, 0.5f);
    add(prefix + "conv1d.weight", {shape_.conv_channels(), 1, SynthShape::kConvTaps},
        ModuleKind::kVector, {.spread = kConvTap});
    add(prefix + "A_log", {shape_.value_heads}, ModuleKind::kALog, kALog);
    add(prefix + "dt_bias", {shape_.value_heads}, ModuleKind::kVector, kDtBias);
    add(prefix + "norm.weight", {SynthShape::kLinearHeadDim}, ModuleKind::kPlainNorm, kGatedNorm);
    matrix(prefix + "out_proj", h, shape_.value_width(), kDeltaOutGain * layer_gain_);
  }

  void add_ffn(const std::string& prefix, int64_t width) {
    matrix(prefix + "gate_proj", width, shape_.hidden);
    matrix(prefix + "up_proj", width, shape_.hidden);
    matrix(prefix + "down_proj", shape_.hidden, width, kFfnOutGain * layer_gain_);
  }

  void add_moe(const std::string& prefix) {
    const int64_t h = shape_.hidden;
    const int64_t width = shape_.expert_intermediate;
    matrix(prefix + "gate", shape_.experts, h, kRouterGain);
    experts(prefix + "switch_mlp.gate_proj", width, h);
    experts(prefix + "switch_mlp.up_proj", width, h);
    experts(prefix + "switch_mlp.down_proj", h, width, kExpertOutGain * layer_gain_);
    add_ffn(prefix + "shared_expert.", width);
    matrix(prefix + "shared_expert_gate", 1, h);
  }

  const SynthShape& shape_;
  float layer_gain_ = 1.0f;
  std::vector<SynthModule> modules_;
};

}  // namespace

int64_t SynthModule::elements() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

std::vector<SynthModule> synth_modules(const SynthShape& shape) {
  ModuleList list(shape);
  list.add_trunk();
  list.add_mtp();
  return list.take();
}

SynthParameters count_parameters(const SynthShape& shape) {
  SynthParameters parameters;
  for (const SynthModule& module : synth_modules(shape)) {
    (module.mtp() ? parameters.mtp : parameters.text) += module.elements();
  }
  return parameters;
}

}  // namespace lockstep
