// For tests: reads every tensor that a forward pass needs, as the model does.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "checkpoint/head_source.h"
#include "checkpoint/matrix_reader.h"

namespace lockstep {

class EverythingReader {
 public:
  explicit EverythingReader(Checkpoint& checkpoint) : model_(checkpoint) {}

  void read() {
    const ModelConfig& config = model_.config;
    matrix(kEmbeddingModule, config.vocab_size, config.hidden_size);
    if (model_.head_module == kHeadModule) {
      matrix(kHeadModule, config.vocab_size, config.hidden_size);
    }
    vector("model.norm.weight", config.hidden_size);
    for (size_t i = 0; i < config.layers.size(); ++i) {
      layer("model.layers." + std::to_string(i), config.layers[i]);
    }
    if (model_.mtp.origin == MtpOrigin::kNone) return;
    matrix("mtp.fc", config.hidden_size, 2 * config.hidden_size);
    for (const char* name :
         {"mtp.norm.weight", "mtp.pre_fc_norm_embedding.weight", "mtp.pre_fc_norm_hidden.weight"}) {
      vector(name, config.hidden_size);
    }
    layer("mtp.layers.0", Mixer::kFullAttention);
  }

 private:
  void matrix(const std::string& module, int64_t rows, int64_t cols) {
    const auto result = read_matrix(model_, module, rows, cols);
    EXPECT_TRUE(result.ok()) << result.error().message;
  }
  void vector(const std::string& name, int64_t size) {
    const auto result = read_vector(model_, name, size, false);
    EXPECT_TRUE(result.ok()) << result.error().message;
  }

  void layer(const std::string& name, Mixer mixer) {
    const int64_t width = model_.config.hidden_size;
    vector(name + ".input_layernorm.weight", width);
    vector(name + ".post_attention_layernorm.weight", width);
    mixer == Mixer::kFullAttention ? attention(name + ".self_attn") : delta(name + ".linear_attn");
    model_.config.ffn == Ffn::kDense ? gated_mlp(name + ".mlp", model_.config.intermediate_size)
                                     : experts(name + ".mlp");
  }

  void attention(const std::string& name) {
    const AttentionConfig& config = model_.config.attention;
    const int64_t width = model_.config.hidden_size;
    matrix(name + ".q_proj", 2 * config.heads * config.head_dim, width);
    matrix(name + ".k_proj", config.kv_heads * config.head_dim, width);
    matrix(name + ".v_proj", config.kv_heads * config.head_dim, width);
    matrix(name + ".o_proj", width, config.heads * config.head_dim);
    vector(name + ".q_norm.weight", config.head_dim);
    vector(name + ".k_norm.weight", config.head_dim);
  }

  void delta(const std::string& name) {
    const GatedDeltaConfig& config = model_.config.delta;
    const int64_t width = model_.config.hidden_size;
    matrix(name + ".in_proj_qkv", config.conv_channels(), width);
    matrix(name + ".in_proj_z", config.value_width(), width);
    matrix(name + ".in_proj_a", config.value_heads, width);
    matrix(name + ".in_proj_b", config.value_heads, width);
    matrix(name + ".out_proj", width, config.value_width());
    vector(name + ".A_log", config.value_heads);
    vector(name + ".dt_bias", config.value_heads);
    vector(name + ".norm.weight", config.value_dim);
    const auto conv = read_conv_weight(model_, name + ".conv1d.weight", config.conv_channels(),
                                       config.conv_kernel);
    EXPECT_TRUE(conv.ok()) << conv.error().message;
  }

  void gated_mlp(const std::string& name, int64_t intermediate) {
    const int64_t width = model_.config.hidden_size;
    matrix(name + ".gate_proj", intermediate, width);
    matrix(name + ".up_proj", intermediate, width);
    matrix(name + ".down_proj", width, intermediate);
  }

  void experts(const std::string& name) {
    const MoeConfig& config = model_.config.moe;
    const int64_t width = model_.config.hidden_size;
    matrix(name + ".gate", config.experts, width);
    matrix(name + ".shared_expert_gate", 1, width);
    gated_mlp(name + ".shared_expert", config.shared_intermediate);
    for (const ExpertMatrix which : {ExpertMatrix::kGate, ExpertMatrix::kUp, ExpertMatrix::kDown}) {
      const bool down = which == ExpertMatrix::kDown;
      const auto stack =
          read_expert_stack(model_, name, which, config.experts, down ? width : config.intermediate,
                            down ? config.intermediate : width);
      EXPECT_TRUE(stack.ok()) << stack.error().message;
    }
  }

  Checkpoint& model_;
};

inline void read_everything(Checkpoint& checkpoint) { EverythingReader(checkpoint).read(); }

}  // namespace lockstep
