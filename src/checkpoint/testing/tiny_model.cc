#include "checkpoint/testing/tiny_model.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr int64_t kWidth = 64;
constexpr int64_t kVocab = 40;
constexpr int64_t kHeadDim = 32;
constexpr int64_t kQuery = 2 * kHeadDim;
constexpr int64_t kChannels = 2 * 16 + 64;
constexpr int64_t kValueWidth = 64;
constexpr int64_t kExperts = 3;

constexpr const char* kConfig = R"({
  "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
  "tie_word_embeddings": true, "eos_token_id": [7, 3],
  "text_config": {
    "model_type": "qwen3_5_text", "vocab_size": 40, "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32, "hidden_act": "silu",
    "max_position_embeddings": 512, "rms_norm_eps": 1e-06, "intermediate_size": 96,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000000,
      "partial_rotary_factor": 0.25, "mrope_section": [2, 1, 1], "mrope_interleaved": true},
    "linear_conv_kernel_dim": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 32,
    "linear_num_key_heads": 1, "linear_num_value_heads": 2,
    "layer_types": ["linear_attention", "full_attention"], "full_attention_interval": 2,
    "attention_bias": false, "attn_output_gate": true, "eos_token_id": 3,
    "mamba_ssm_dtype": "float32", "mtp_num_hidden_layers": 1, "tie_word_embeddings": true}})";

class Builder {
 public:
  Builder(const TinySpec& spec, TestTensors& tensors) : spec_(spec), tensors_(tensors) {}

  void model() {
    matrix("model.embed_tokens", kVocab, kWidth);
    norm("model.norm", kWidth);
    delta("model.layers.0");
    attention("model.layers.1");
    if (!spec_.draft_head) return;
    matrix("mtp.fc", kWidth, 2 * kWidth);
    for (const char* name : {"mtp.norm", "mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden"}) {
      norm(name, kWidth);
    }
    attention("mtp.layers.0");
  }

 private:
  // The mean of a zero-centred norm's stored weight.
  float norm_mean() const { return spec_.layout == Layout::kMlx ? 0.56f : -0.44f; }
  void floats(const std::string& name, std::vector<int64_t> shape, float mean = 0.0f) {
    tensors_[name] = random_floats(spec_.dtype, std::move(shape), seed_++, mean);
  }
  void norm(const std::string& name, int64_t size) {
    floats(name + ".weight", {size}, norm_mean());
  }

  void weight(const std::string& module, std::vector<int64_t> lead, int64_t cols) {
    if (spec_.quantised) {
      add_affine(tensors_, module, std::move(lead), cols, 4, 32, seed_);
      seed_ += 3;
      return;
    }
    lead.push_back(cols);
    floats(module + ".weight", std::move(lead));
  }
  void matrix(const std::string& module, int64_t rows, int64_t cols) {
    weight(module, {rows}, cols);
  }

  void layer(const std::string& name) {
    norm(name + ".input_layernorm", kWidth);
    norm(name + ".post_attention_layernorm", kWidth);
    if (!spec_.moe) return gated_mlp(name + ".mlp", 96);
    matrix(name + ".mlp.gate", kExperts, kWidth);
    matrix(name + ".mlp.shared_expert_gate", 1, kWidth);
    gated_mlp(name + ".mlp.shared_expert", 64);
    if (spec_.layout == Layout::kHuggingFace) {
      floats(name + ".mlp.experts.gate_up_proj", {kExperts, 2 * 32, kWidth});
      floats(name + ".mlp.experts.down_proj", {kExperts, kWidth, 32});
      return;
    }
    weight(name + ".mlp.switch_mlp.gate_proj", {kExperts, 32}, kWidth);
    weight(name + ".mlp.switch_mlp.up_proj", {kExperts, 32}, kWidth);
    weight(name + ".mlp.switch_mlp.down_proj", {kExperts, kWidth}, 32);
  }

  void gated_mlp(const std::string& name, int64_t intermediate) {
    matrix(name + ".gate_proj", intermediate, kWidth);
    matrix(name + ".up_proj", intermediate, kWidth);
    matrix(name + ".down_proj", kWidth, intermediate);
  }

  void attention(const std::string& name) {
    layer(name);
    matrix(name + ".self_attn.q_proj", 2 * kQuery, kWidth);
    matrix(name + ".self_attn.k_proj", kHeadDim, kWidth);
    matrix(name + ".self_attn.v_proj", kHeadDim, kWidth);
    matrix(name + ".self_attn.o_proj", kWidth, kQuery);
    norm(name + ".self_attn.q_norm", kHeadDim);
    norm(name + ".self_attn.k_norm", kHeadDim);
  }

  void delta(const std::string& name) {
    layer(name);
    const std::string mixer = name + ".linear_attn";
    matrix(mixer + ".in_proj_qkv", kChannels, kWidth);
    matrix(mixer + ".in_proj_z", kValueWidth, kWidth);
    matrix(mixer + ".in_proj_a", 2, kWidth);
    matrix(mixer + ".in_proj_b", 2, kWidth);
    matrix(mixer + ".out_proj", kWidth, kValueWidth);
    floats(mixer + ".A_log", {2});
    floats(mixer + ".dt_bias", {2});
    floats(mixer + ".norm.weight", {32}, 1.0f);
    floats(mixer + ".conv1d.weight", spec_.layout == Layout::kMlx
                                         ? std::vector<int64_t>{kChannels, 4, 1}
                                         : std::vector<int64_t>{kChannels, 1, 4});
  }

  const TinySpec& spec_;
  TestTensors& tensors_;
  uint32_t seed_ = 1;
};

json::object tiny_config(const TinySpec& spec) {
  json::object config = parse_json(kConfig, "tiny config").value().as_object();
  json::object& text = config["text_config"].as_object();
  if (spec.moe) {
    config["model_type"] = "qwen3_5_moe";
    text["model_type"] = "qwen3_5_moe_text";
    text.erase("intermediate_size");
    text["num_experts"] = kExperts;
    text["num_experts_per_tok"] = 2;
    text["moe_intermediate_size"] = 32;
    text["shared_expert_intermediate_size"] = 64;
  }
  if (spec.quantised) config["quantization"] = {{"bits", 4}, {"group_size", 32}};
  return config;
}

}  // namespace

TinyModel tiny_model(const TinySpec& spec) {
  TinyModel model{tiny_config(spec), {}};
  Builder(spec, model.tensors).model();
  return model;
}

TestTensors TinyModel::split_draft_head() {
  TestTensors head;
  for (auto item = tensors.begin(); item != tensors.end();) {
    if (item->first.starts_with("mtp.")) {
      head.insert(*item);
      item = tensors.erase(item);
    } else {
      ++item;
    }
  }
  return head;
}

TestTensors respell(const TestTensors& tensors, const std::string& from, const std::string& to) {
  TestTensors respelled;
  for (const auto& [name, tensor] : tensors) {
    respelled[name.starts_with(from) ? to + name.substr(from.size()) : name] = tensor;
  }
  return respelled;
}

void write_model(const std::filesystem::path& folder, const TinyModel& model, int shards) {
  write_file(folder / "config.json", dump_json(model.config));
  if (shards == 1) {
    write_file(folder / "model.safetensors", safetensors_file(model.tensors));
    return;
  }
  std::vector<TestTensors> parts(static_cast<size_t>(shards));
  json::object map;
  size_t next = 0;
  for (const auto& [name, tensor] : model.tensors) {
    const size_t part = next++ % parts.size();
    parts[part][name] = tensor;
    map[name] = "model-" + std::to_string(part) + ".safetensors";
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    write_file(folder / ("model-" + std::to_string(i) + ".safetensors"),
               safetensors_file(parts[i]));
  }
  write_file(folder / "model.safetensors.index.json", dump_json(json::object{{"weight_map", map}}));
}

}  // namespace lockstep
