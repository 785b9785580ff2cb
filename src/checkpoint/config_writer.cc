#include "checkpoint/config_writer.h"

#include <utility>

namespace lockstep {
namespace {

json::object rope_parameters(const ModelConfig& config) {
  const RopeConfig& rope = config.rope;
  const auto& [time, height, width] = rope.mrope_section;
  const double share = static_cast<double>(config.attention.rotary_dim) /
                       static_cast<double>(config.attention.head_dim);
  json::object out = {{"rope_type", rope.yarn ? "yarn" : "default"},
                      {"rope_theta", rope.theta},
                      {"partial_rotary_factor", share},
                      {"mrope_section", json::array{time, height, width}},
                      {"mrope_interleaved", true}};
  if (rope.yarn) {
    out["factor"] = rope.yarn->factor;
    out["original_max_position_embeddings"] = rope.yarn->original_max_positions;
    out["beta_fast"] = rope.yarn->beta_fast;
    out["beta_slow"] = rope.yarn->beta_slow;
  }
  return out;
}

json::array layer_types(const ModelConfig& config) {
  json::array types;
  for (const Mixer mixer : config.layers) {
    types.push_back(mixer == Mixer::kFullAttention ? "full_attention" : "linear_attention");
  }
  return types;
}

// The place of the first layer of full attention: layer_types is what counts.
int64_t attention_interval(const ModelConfig& config) {
  int64_t interval = 1;
  for (const Mixer mixer : config.layers) {
    if (mixer == Mixer::kFullAttention) break;
    ++interval;
  }
  return interval;
}

const char* dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return "float16";
    case DType::kF32:
      return "float32";
    default:
      return "bfloat16";
  }
}

json::object text_config(const ModelConfig& config, DType dtype) {
  const bool moe = config.ffn == Ffn::kMoe;
  const GatedDeltaConfig& delta = config.delta;
  json::object text = {{"model_type", moe ? "qwen3_5_moe_text" : "qwen3_5_text"},
                       {"vocab_size", config.vocab_size},
                       {"hidden_size", config.hidden_size},
                       {"num_hidden_layers", config.layers.size()},
                       {"num_attention_heads", config.attention.heads},
                       {"num_key_value_heads", config.attention.kv_heads},
                       {"head_dim", config.attention.head_dim},
                       {"hidden_act", "silu"},
                       {"max_position_embeddings", config.max_positions},
                       {"rms_norm_eps", config.rms_norm_eps},
                       {"rope_parameters", rope_parameters(config)},
                       {"linear_conv_kernel_dim", delta.conv_kernel},
                       {"linear_key_head_dim", delta.key_dim},
                       {"linear_value_head_dim", delta.value_dim},
                       {"linear_num_key_heads", delta.key_heads},
                       {"linear_num_value_heads", delta.value_heads},
                       {"layer_types", layer_types(config)},
                       {"full_attention_interval", attention_interval(config)},
                       {"attention_bias", false},
                       {"attn_output_gate", true},
                       {"mamba_ssm_dtype", "float32"},
                       {"tie_word_embeddings", config.tie_word_embeddings},
                       {"mtp_num_hidden_layers", config.mtp_layers},
                       {"mtp_use_dedicated_embeddings", false},
                       {"dtype", dtype_name(dtype)}};
  if (delta.gate == GateActivation::kSigmoid) text["output_gate_type"] = "sigmoid";
  if (moe) {
    text["num_experts"] = config.moe.experts;
    text["num_experts_per_tok"] = config.moe.experts_per_token;
    text["moe_intermediate_size"] = config.moe.intermediate;
    text["shared_expert_intermediate_size"] = config.moe.shared_intermediate;
  } else {
    text["intermediate_size"] = config.intermediate_size;
  }
  return text;
}

}  // namespace

json::object model_config_json(const ModelConfig& config, DType dtype) {
  const bool moe = config.ffn == Ffn::kMoe;
  json::object root = {{"architectures", json::array{moe ? "Qwen3_5MoeForConditionalGeneration"
                                                         : "Qwen3_5ForConditionalGeneration"}},
                       {"model_type", moe ? "qwen3_5_moe" : "qwen3_5"},
                       {"text_config", text_config(config, dtype)},
                       {"tie_word_embeddings", config.tie_word_embeddings}};
  json::array stops(config.eos_ids.begin(), config.eos_ids.end());
  if (!stops.empty()) {
    root["text_config"].as_object()["eos_token_id"] = stops;
    root["eos_token_id"] = std::move(stops);
  }
  return root;
}

void set_draft_head_type(json::object& config) {
  config["architectures"] = json::array{"Qwen3_5MTP"};
  config["model_type"] = "qwen3_5_mtp";
}

json::object generation_config_json(const GenerationConfig& config) {
  json::object out;
  if (config.do_sample) out["do_sample"] = *config.do_sample;
  if (config.top_k) out["top_k"] = *config.top_k;
  const struct {
    const char* key;
    const std::optional<double>& value;
  } numbers[] = {
      {"temperature", config.temperature},
      {"top_p", config.top_p},
      {"min_p", config.min_p},
      {"repetition_penalty", config.repetition_penalty},
      {"presence_penalty", config.presence_penalty},
      {"frequency_penalty", config.frequency_penalty},
  };
  for (const auto& number : numbers) {
    if (number.value) out[number.key] = *number.value;
  }
  if (!config.eos_ids.empty()) {
    out["eos_token_id"] = json::array(config.eos_ids.begin(), config.eos_ids.end());
  }
  return out;
}

}  // namespace lockstep
