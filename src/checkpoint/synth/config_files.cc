#include "checkpoint/synth/config_files.h"

#include <fmt/format.h>

#include "checkpoint/mapped_file.h"

namespace lockstep {
namespace {

constexpr size_t kLargestText = 64u << 20;  // a tokenizer.json of the family has 20 MB

// A lent generation_config.json knows the tokenizer's end tokens; this one is for token ids alone.
constexpr std::string_view kGenerationConfig =
    "{\n \"do_sample\": true,\n \"temperature\": 1.0,\n \"top_k\": 20,\n \"top_p\": 0.95\n}";

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

json::object rope_parameters() {
  return {{"rope_type", "default"},
          {"rope_theta", 10000000.0},
          {"partial_rotary_factor", 0.25},
          {"mrope_section", json::array{11, 11, 10}},
          {"mrope_interleaved", true}};
}

json::array layer_types(const SynthShape& shape) {
  json::array types;
  for (int64_t i = 0; i < shape.layers; ++i) {
    types.push_back(shape.full_attention(i) ? "full_attention" : "linear_attention");
  }
  return types;
}

json::object text_config(const SynthShape& shape, const SynthOptions& options,
                         const LentTokenizer& tokenizer) {
  json::object text = {{"model_type", shape.moe() ? "qwen3_5_moe_text" : "qwen3_5_text"},
                       {"vocab_size", shape.vocab},
                       {"hidden_size", shape.hidden},
                       {"num_hidden_layers", shape.layers},
                       {"num_attention_heads", shape.heads},
                       {"num_key_value_heads", shape.kv_heads},
                       {"head_dim", SynthShape::kHeadDim},
                       {"hidden_act", "silu"},
                       {"max_position_embeddings", shape.max_positions},
                       {"rms_norm_eps", 1e-6},
                       {"rope_parameters", rope_parameters()},
                       {"linear_conv_kernel_dim", SynthShape::kConvTaps},
                       {"linear_key_head_dim", SynthShape::kLinearHeadDim},
                       {"linear_value_head_dim", SynthShape::kLinearHeadDim},
                       {"linear_num_key_heads", shape.key_heads},
                       {"linear_num_value_heads", shape.value_heads},
                       {"layer_types", layer_types(shape)},
                       {"full_attention_interval", SynthShape::kAttentionInterval},
                       {"attention_bias", false},
                       {"attn_output_gate", true},
                       {"mamba_ssm_dtype", "float32"},
                       {"tie_word_embeddings", shape.tied},
                       {"mtp_num_hidden_layers", options.mtp == SynthMtp::kAbsent ? 0 : 1},
                       {"mtp_use_dedicated_embeddings", false},
                       {"eos_token_id", tokenizer.text_eos},
                       {"dtype", dtype_name(options.dtype)}};
  if (shape.moe()) {
    text["num_experts"] = shape.experts;
    text["num_experts_per_tok"] = shape.experts_per_token;
    text["moe_intermediate_size"] = shape.expert_intermediate;
    text["shared_expert_intermediate_size"] = shape.expert_intermediate;
  } else {
    text["intermediate_size"] = shape.intermediate;
  }
  return text;
}

// MLX's `quantization`: the common scheme, and an entry for each module that differs.
json::object quantization(const SynthOptions& options, const SynthPlan& plan, bool sidecar) {
  json::object scheme = {{"group_size", options.group}, {"bits", options.bits}, {"mode", "affine"}};
  for (const StoredModule& module : plan.modules) {
    if (module.sidecar != sidecar || !module.affine) continue;
    const AffineFormat& format = *module.affine;
    if (format.bits == options.bits && format.group == options.group) continue;
    scheme[module.path] = json::object{{"group_size", format.group}, {"bits", format.bits}};
  }
  return scheme;
}

std::string finish_config(json::object config, const SynthShape& shape, const SynthOptions& options,
                          const SynthPlan& plan, const LentTokenizer& tokenizer, bool sidecar) {
  config["text_config"] = text_config(shape, options, tokenizer);
  config["tie_word_embeddings"] = shape.tied;
  config["eos_token_id"] = tokenizer.eos;
  for (const auto& id : tokenizer.ids) config[id.key()] = id.value();
  if (options.layout == Layout::kMlx) {
    config["quantization"] = quantization(options, plan, sidecar);
    config["quantization_config"] = config["quantization"];
  }
  return dump_json(config, 1);
}

}  // namespace

Result<LentTokenizer> read_lent_tokenizer(const std::filesystem::path& folder) {
  LentTokenizer lent;
  if (folder.empty()) {
    lent.files.push_back({"generation_config.json", std::string(kGenerationConfig)});
    return lent;
  }
  const std::filesystem::path config_path = folder / "config.json";
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string text, read_text_file(config_path, kLargestText));
  LOCKSTEP_ASSIGN_OR_RETURN(const json::value config, parse_json(text, config_path.string()));
  const json::object* root = config.if_object();
  const json::value* nested = root != nullptr ? root->if_contains("text_config") : nullptr;
  const json::object* model = nested != nullptr ? nested->if_object() : root;
  const json::value* vocab = model != nullptr ? model->if_contains("vocab_size") : nullptr;
  if (vocab == nullptr || !vocab->is_int64()) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{} has no whole number vocab_size", config_path.string())};
  }
  lent.vocab = vocab->get_int64();
  if (const json::value* eos = root->if_contains("eos_token_id")) lent.eos = *eos;
  if (const json::value* eos = model->if_contains("eos_token_id")) lent.text_eos = *eos;
  for (const char* name :
       {"image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id"}) {
    if (const json::value* id = root->if_contains(name)) lent.ids[name] = *id;
  }
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
                           "generation_config.json"}) {
    LOCKSTEP_ASSIGN_OR_RETURN(std::string lent_text, read_text_file(folder / name, kLargestText));
    lent.files.push_back({name, std::move(lent_text)});
  }
  return lent;
}

std::string config_text(const SynthShape& shape, const SynthOptions& options, const SynthPlan& plan,
                        const LentTokenizer& tokenizer) {
  const char* architecture =
      shape.moe() ? "Qwen3_5MoeForConditionalGeneration" : "Qwen3_5ForConditionalGeneration";
  return finish_config({{"architectures", json::array{architecture}},
                        {"model_type", shape.moe() ? "qwen3_5_moe" : "qwen3_5"}},
                       shape, options, plan, tokenizer, false);
}

std::string sidecar_config_text(const SynthShape& shape, const SynthOptions& options,
                                const SynthPlan& plan, const LentTokenizer& tokenizer) {
  return finish_config(
      {{"architectures", json::array{"Qwen3_5MTP"}}, {"model_type", "qwen3_5_mtp"}}, shape, options,
      plan, tokenizer, true);
}

}  // namespace lockstep
