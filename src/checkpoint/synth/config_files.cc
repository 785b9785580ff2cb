#include "checkpoint/synth/config_files.h"

#include <fmt/format.h>

#include "checkpoint/config_writer.h"
#include "checkpoint/mapped_file.h"

namespace lockstep {
namespace {

constexpr size_t kLargestText = 64u << 20;  // a tokenizer.json of the family has 20 MB

// A lent generation_config.json knows the tokenizer's end tokens; this one is for token ids alone.
constexpr std::string_view kGenerationConfig =
    "{\n \"do_sample\": true,\n \"temperature\": 1.0,\n \"top_k\": 20,\n \"top_p\": 0.95\n}";

ModelConfig model_config(const SynthShape& shape, const SynthOptions& options) {
  ModelConfig config;
  config.ffn = shape.moe() ? Ffn::kMoe : Ffn::kDense;
  config.vocab_size = shape.vocab;
  config.hidden_size = shape.hidden;
  config.intermediate_size = shape.intermediate;
  config.max_positions = shape.max_positions;
  config.rms_norm_eps = 1e-6;
  config.tie_word_embeddings = shape.tied;
  for (int64_t i = 0; i < shape.layers; ++i) {
    config.layers.push_back(shape.full_attention(i) ? Mixer::kFullAttention : Mixer::kGatedDelta);
  }
  config.attention = {.heads = shape.heads,
                      .kv_heads = shape.kv_heads,
                      .head_dim = SynthShape::kHeadDim,
                      .rotary_dim = SynthShape::kHeadDim / 4};
  config.delta = {.key_heads = shape.key_heads,
                  .value_heads = shape.value_heads,
                  .key_dim = SynthShape::kLinearHeadDim,
                  .value_dim = SynthShape::kLinearHeadDim,
                  .conv_kernel = SynthShape::kConvTaps};
  config.moe = {.experts = shape.experts,
                .experts_per_token = shape.experts_per_token,
                .intermediate = shape.expert_intermediate,
                .shared_intermediate = shape.expert_intermediate};
  config.rope.theta = 10000000.0;
  config.mtp_layers = options.mtp == SynthMtp::kAbsent ? 0 : 1;
  return config;
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

std::string finish_config(json::object config, const SynthOptions& options, const SynthPlan& plan,
                          const LentTokenizer& tokenizer, bool sidecar) {
  config["text_config"].as_object()["eos_token_id"] = tokenizer.text_eos;
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
  return finish_config(model_config_json(model_config(shape, options), options.dtype), options,
                       plan, tokenizer, false);
}

std::string sidecar_config_text(const SynthShape& shape, const SynthOptions& options,
                                const SynthPlan& plan, const LentTokenizer& tokenizer) {
  json::object config = model_config_json(model_config(shape, options), options.dtype);
  set_draft_head_type(config);
  return finish_config(std::move(config), options, plan, tokenizer, true);
}

}  // namespace lockstep
