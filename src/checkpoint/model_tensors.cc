#include "checkpoint/model_tensors.h"

#include <string_view>
#include <utility>

namespace lockstep {
namespace {

class Lister {
 public:
  explicit Lister(const ModelConfig& config) : config_(config), hidden_(config.hidden_size) {}

  std::vector<ModelTensor> list(bool own_head) {
    matrix("model.embed_tokens", config_.vocab_size, hidden_);
    for (size_t i = 0; i < config_.layers.size(); ++i) {
      layer("model.layers." + std::to_string(i) + ".", config_.layers[i]);
    }
    norm("model.norm", hidden_);
    if (own_head) matrix("lm_head", config_.vocab_size, hidden_);
    if (config_.mtp_layers > 0) draft_head();
    return std::move(tensors_);
  }

 private:
  ModelTensor& add(std::string name, TensorKind kind, int64_t rows, int64_t cols) {
    tensors_.push_back({.name = std::move(name), .kind = kind, .rows = rows, .cols = cols});
    return tensors_.back();
  }
  ModelTensor& matrix(const std::string& module, int64_t rows, int64_t cols) {
    return add(module + ".weight", TensorKind::kMatrix, rows, cols);
  }
  void norm(const std::string& module, int64_t size) {
    add(module + ".weight", TensorKind::kZeroCentredNorm, 1, size);
  }

  void draft_head() {
    norm("mtp.pre_fc_norm_embedding", hidden_);
    norm("mtp.pre_fc_norm_hidden", hidden_);
    matrix("mtp.fc", hidden_, 2 * hidden_);
    layer("mtp.layers.0.", Mixer::kFullAttention);
    norm("mtp.norm", hidden_);
  }

  void layer(const std::string& prefix, Mixer mixer) {
    norm(prefix + "input_layernorm", hidden_);
    mixer == Mixer::kFullAttention ? attention(prefix + "self_attn.")
                                   : delta(prefix + "linear_attn.");
    norm(prefix + "post_attention_layernorm", hidden_);
    config_.ffn == Ffn::kMoe ? moe(prefix + "mlp.")
                             : gated_mlp(prefix + "mlp.", config_.intermediate_size);
  }

  void attention(const std::string& prefix) {
    const AttentionConfig& attention = config_.attention;
    const int64_t q_width = attention.heads * attention.head_dim;
    const int64_t kv_width = attention.kv_heads * attention.head_dim;
    matrix(prefix + "q_proj", 2 * q_width, hidden_);
    matrix(prefix + "k_proj", kv_width, hidden_);
    matrix(prefix + "v_proj", kv_width, hidden_);
    matrix(prefix + "o_proj", hidden_, q_width);
    norm(prefix + "q_norm", attention.head_dim);
    norm(prefix + "k_norm", attention.head_dim);
  }

  void delta(const std::string& prefix) {
    const GatedDeltaConfig& delta = config_.delta;
    const int64_t heads = delta.value_heads;
    const int64_t channels = delta.conv_channels();
    using Axis = HeadSpan::Axis;
    const HeadSpan each = {Axis::kRows, 0, 1};
    const HeadSpan values = {Axis::kRows, channels - delta.value_width(), delta.value_dim};
    matrix(prefix + "in_proj_qkv", channels, hidden_).heads = values;
    matrix(prefix + "in_proj_z", delta.value_width(), hidden_).heads = {Axis::kRows, 0,
                                                                        delta.value_dim};
    matrix(prefix + "in_proj_a", heads, hidden_).heads = each;
    matrix(prefix + "in_proj_b", heads, hidden_).heads = each;
    matrix(prefix + "out_proj", hidden_, delta.value_width()).heads = {Axis::kColumns, 0,
                                                                       delta.value_dim};
    add(prefix + "conv1d.weight", TensorKind::kConvolution, channels, delta.conv_kernel).heads =
        values;
    const HeadSpan entries = {Axis::kColumns, 0, 1};
    add(prefix + "A_log", TensorKind::kDecay, 1, heads).heads = entries;
    add(prefix + "dt_bias", TensorKind::kVector, 1, heads).heads = entries;
    add(prefix + "norm.weight", TensorKind::kVector, 1, delta.value_dim);
  }

  void gated_mlp(const std::string& prefix, int64_t intermediate) {
    matrix(prefix + "gate_proj", intermediate, hidden_);
    matrix(prefix + "up_proj", intermediate, hidden_);
    matrix(prefix + "down_proj", hidden_, intermediate);
  }

  void moe(const std::string& prefix) {
    const MoeConfig& moe = config_.moe;
    matrix(prefix + "gate", moe.experts, hidden_);
    experts(prefix + "switch_mlp.gate_proj", moe.intermediate, hidden_);
    experts(prefix + "switch_mlp.up_proj", moe.intermediate, hidden_);
    experts(prefix + "switch_mlp.down_proj", hidden_, moe.intermediate);
    gated_mlp(prefix + "shared_expert.", moe.shared_intermediate);
    matrix(prefix + "shared_expert_gate", 1, hidden_);
  }
  void experts(const std::string& module, int64_t rows, int64_t cols) {
    ModelTensor& stack = matrix(module, rows, cols);
    stack.kind = TensorKind::kExperts;
    stack.count = config_.moe.experts;
  }

  const ModelConfig& config_;
  int64_t hidden_;
  std::vector<ModelTensor> tensors_;
};

}  // namespace

std::string ModelTensor::module() const {
  constexpr std::string_view kWeight = ".weight";
  return name.ends_with(kWeight) ? name.substr(0, name.size() - kWeight.size()) : name;
}

std::vector<ModelTensor> model_tensors(const ModelConfig& config, bool own_head) {
  return Lister(config).list(own_head);
}

}  // namespace lockstep
