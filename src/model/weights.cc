#include "model/weights.h"

#include <string>
#include <utility>

#include "base/real_math.h"
#include "checkpoint/matrix_reader.h"

namespace lockstep {
namespace {

// Reads the tensors under one prefix and keeps the first error, so that a layer reads as a list.
class Binder {
 public:
  Binder(Checkpoint& checkpoint, bool add_one) : checkpoint_(checkpoint), add_one_(add_one) {}

  void matrix(const std::string& module, int64_t rows, int64_t cols, MatrixView& out) {
    keep(read_matrix(checkpoint_, module, rows, cols), out);
  }
  void experts(const std::string& mlp, ExpertMatrix which, int64_t rows, int64_t cols,
               MatrixStack& out) {
    keep(read_expert_stack(checkpoint_, mlp, which, checkpoint_.config.moe.experts, rows, cols),
         out);
  }
  void vector(const std::string& name, int64_t size, std::vector<float>& out) {
    keep(read_vector(checkpoint_, name, size, false), out);
  }
  // A zero-centred norm: the factor 1 + w, whichever of the two is stored.
  void norm(const std::string& module, int64_t size, std::vector<float>& out) {
    keep(read_vector(checkpoint_, module + ".weight", size, add_one_), out);
  }
  // -exp(A_log), which GGUF files store as such.
  void negative_a(const std::string& name, int64_t size, std::vector<float>& out) {
    vector(name, size, out);
    if (checkpoint_.layout == Layout::kGguf) return;
    for (float& a : out) a = static_cast<float>(-real_math::exp(a));
  }
  void conv(const std::string& name, int64_t channels, int64_t taps, std::vector<float>& out) {
    std::vector<float> by_channel;
    keep(read_conv_weight(checkpoint_, name, channels, taps), by_channel);
    out.resize(by_channel.size());
    for (size_t i = 0; i < by_channel.size(); ++i) {
      const auto channel = i / static_cast<size_t>(taps);
      const auto tap = i % static_cast<size_t>(taps);
      out[tap * static_cast<size_t>(channels) + channel] = by_channel[i];
    }
  }

  const ModelConfig& config() const { return checkpoint_.config; }
  const Status& status() const { return status_; }

 private:
  template <typename T>
  void keep(Result<T> result, T& out) {
    if (!status_.ok()) return;
    if (result.ok()) {
      out = std::move(result).value();
    } else {
      status_ = result.error();
    }
  }

  Checkpoint& checkpoint_;
  bool add_one_;
  Status status_;
};

AttentionWeights bind_attention(Binder& bind, const std::string& prefix) {
  const int64_t hidden = bind.config().hidden_size;
  const AttentionConfig& attention = bind.config().attention;
  const int64_t q_width = attention.heads * attention.head_dim;
  const int64_t kv_width = attention.kv_heads * attention.head_dim;
  AttentionWeights w;
  bind.matrix(prefix + "q_proj", 2 * q_width, hidden, w.q);
  bind.matrix(prefix + "k_proj", kv_width, hidden, w.k);
  bind.matrix(prefix + "v_proj", kv_width, hidden, w.v);
  bind.matrix(prefix + "o_proj", hidden, q_width, w.o);
  bind.norm(prefix + "q_norm", attention.head_dim, w.q_norm);
  bind.norm(prefix + "k_norm", attention.head_dim, w.k_norm);
  return w;
}

DeltaWeights bind_delta(Binder& bind, const std::string& prefix) {
  const int64_t hidden = bind.config().hidden_size;
  const GatedDeltaConfig& delta = bind.config().delta;
  DeltaWeights w;
  bind.matrix(prefix + "in_proj_qkv", delta.conv_channels(), hidden, w.qkv);
  bind.matrix(prefix + "in_proj_z", delta.value_width(), hidden, w.z);
  bind.matrix(prefix + "in_proj_a", delta.value_heads, hidden, w.a);
  bind.matrix(prefix + "in_proj_b", delta.value_heads, hidden, w.b);
  bind.matrix(prefix + "out_proj", hidden, delta.value_width(), w.out);
  bind.conv(prefix + "conv1d.weight", delta.conv_channels(), delta.conv_kernel, w.conv);
  bind.negative_a(prefix + "A_log", delta.value_heads, w.negative_a);
  bind.vector(prefix + "dt_bias", delta.value_heads, w.dt_bias);
  bind.vector(prefix + "norm.weight", delta.value_dim, w.norm);
  return w;
}

DenseFfnWeights bind_dense_ffn(Binder& bind, const std::string& prefix, int64_t intermediate) {
  const int64_t hidden = bind.config().hidden_size;
  DenseFfnWeights w;
  bind.matrix(prefix + "gate_proj", intermediate, hidden, w.gate);
  bind.matrix(prefix + "up_proj", intermediate, hidden, w.up);
  bind.matrix(prefix + "down_proj", hidden, intermediate, w.down);
  return w;
}

MoeWeights bind_moe(Binder& bind, const std::string& mlp) {
  const int64_t hidden = bind.config().hidden_size;
  const MoeConfig& moe = bind.config().moe;
  MoeWeights w;
  bind.matrix(mlp + ".gate", moe.experts, hidden, w.router);
  bind.experts(mlp, ExpertMatrix::kGate, moe.intermediate, hidden, w.gate);
  bind.experts(mlp, ExpertMatrix::kUp, moe.intermediate, hidden, w.up);
  bind.experts(mlp, ExpertMatrix::kDown, hidden, moe.intermediate, w.down);
  w.shared = bind_dense_ffn(bind, mlp + ".shared_expert.", moe.shared_intermediate);
  bind.matrix(mlp + ".shared_expert_gate", 1, hidden, w.shared_gate);
  return w;
}

LayerWeights bind_layer(Binder& bind, const std::string& prefix, Mixer mixer) {
  const ModelConfig& config = bind.config();
  LayerWeights w;
  bind.norm(prefix + "input_layernorm", config.hidden_size, w.input_norm);
  bind.norm(prefix + "post_attention_layernorm", config.hidden_size, w.post_attention_norm);
  switch (mixer) {
    case Mixer::kFullAttention:
      w.mixer = bind_attention(bind, prefix + "self_attn.");
      break;
    case Mixer::kGatedDelta:
      w.mixer = bind_delta(bind, prefix + "linear_attn.");
      break;
  }
  switch (config.ffn) {
    case Ffn::kDense:
      w.ffn = bind_dense_ffn(bind, prefix + "mlp.", config.intermediate_size);
      break;
    case Ffn::kMoe:
      w.ffn = bind_moe(bind, prefix + "mlp");
      break;
  }
  return w;
}

MtpWeights bind_mtp(Binder& bind) {
  const int64_t hidden = bind.config().hidden_size;
  MtpWeights w;
  bind.norm("mtp.pre_fc_norm_embedding", hidden, w.embedding_norm);
  bind.norm("mtp.pre_fc_norm_hidden", hidden, w.hidden_norm);
  bind.matrix("mtp.fc", hidden, 2 * hidden, w.fc);
  w.layer = bind_layer(bind, "mtp.layers.0.", Mixer::kFullAttention);
  bind.norm("mtp.norm", hidden, w.norm);
  return w;
}

}  // namespace

Result<ModelWeights> bind_weights(Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config;
  Binder trunk(checkpoint, checkpoint.norms.add_one);
  ModelWeights weights;
  trunk.matrix("model.embed_tokens", config.vocab_size, config.hidden_size, weights.embedding);
  for (size_t i = 0; i < config.layers.size() && trunk.status().ok(); ++i) {
    weights.layers.push_back(
        bind_layer(trunk, "model.layers." + std::to_string(i) + ".", config.layers[i]));
  }
  trunk.norm("model.norm", config.hidden_size, weights.final_norm);
  trunk.matrix(checkpoint.head_module, config.vocab_size, config.hidden_size, weights.head);
  LOCKSTEP_RETURN_IF_ERROR(trunk.status());
  if (config.mtp_layers > 0) {
    Binder mtp(checkpoint, checkpoint.mtp_norms.add_one);
    weights.mtp = bind_mtp(mtp);
    LOCKSTEP_RETURN_IF_ERROR(mtp.status());
  }
  return weights;
}

}  // namespace lockstep
