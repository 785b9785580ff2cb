#include "checkpoint/config_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/config_limits.h"
#include "checkpoint/generation_config.h"
#include "checkpoint/json_fields.h"
#include "checkpoint/model_type.h"
#include "checkpoint/rope_config.h"

namespace lockstep {
namespace {

struct Reader {
  JsonFields top;
  JsonFields text;  // the same as `top` in a flat file
  bool nested = false;
  ModelConfig config;

  Status sizes();
  Status layers();
  Status attention();
  Status delta();
  Status ffn();
  Status ties();
  Status draft_head();
  Status stop_tokens();
};

Status Reader::sizes() {
  LOCKSTEP_ASSIGN_OR_RETURN(config.vocab_size, text.integer("vocab_size", kVocabRange));
  LOCKSTEP_ASSIGN_OR_RETURN(config.hidden_size, text.integer("hidden_size", kWidthRange));
  LOCKSTEP_ASSIGN_OR_RETURN(config.rms_norm_eps,
                            text.number("rms_norm_eps", {0.0, 0.1, true}, 1e-6));
  if (!text.has("max_position_embeddings")) {
    config.warnings.push_back(fmt::format("{}: {} is missing; 32768 is used", text.file(),
                                          text.name_of("max_position_embeddings")));
  }
  LOCKSTEP_ASSIGN_OR_RETURN(config.max_positions,
                            text.integer("max_position_embeddings", kPositionRange, 32768));
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string activation, text.text("hidden_act", "silu"));
  if (activation != "silu" && activation != "swish") {
    return text.unsupported("hidden_act", R"("silu")");
  }
  return {};
}

Status Reader::layers() {
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t count, text.integer("num_hidden_layers", kLayerRange));
  const json::value* types = text.find("layer_types");
  if (types == nullptr) {
    if (!text.has("full_attention_interval")) {
      return text.wrong("layer_types", "a list of one kind per layer, or full_attention_interval");
    }
    LOCKSTEP_ASSIGN_OR_RETURN(const int64_t interval,
                              text.integer("full_attention_interval", kLayerRange));
    for (int64_t i = 1; i <= count; ++i) {
      config.layers.push_back(i % interval == 0 ? Mixer::kFullAttention : Mixer::kGatedDelta);
    }
    return {};
  }
  if (!types->is_array() || types->get_array().size() != static_cast<size_t>(count)) {
    return text.wrong("layer_types", fmt::format("a list of {} kinds, one per layer", count));
  }
  for (const json::value& type : types->get_array()) {
    if (type == "full_attention") {
      config.layers.push_back(Mixer::kFullAttention);
    } else if (type == "linear_attention") {
      config.layers.push_back(Mixer::kGatedDelta);
    } else {
      return Error{ErrorCode::kUnsupported,
                   fmt::format(R"({}: {}[{}]: found {}, expected "linear_attention" or )"
                               R"("full_attention")",
                               text.file(), text.name_of("layer_types"), config.layers.size(),
                               describe_found(&type))};
    }
  }
  return {};
}

Status Reader::attention() {
  AttentionConfig& attention = config.attention;
  LOCKSTEP_ASSIGN_OR_RETURN(attention.heads, text.integer("num_attention_heads", kHeadRange));
  LOCKSTEP_ASSIGN_OR_RETURN(attention.kv_heads, text.integer("num_key_value_heads", kHeadRange));
  if (attention.heads % attention.kv_heads != 0) {
    return text.wrong("num_key_value_heads",
                      fmt::format("a divisor of num_attention_heads, {}", attention.heads));
  }
  LOCKSTEP_ASSIGN_OR_RETURN(attention.head_dim, text.integer("head_dim", kHeadDimRange));
  LOCKSTEP_ASSIGN_OR_RETURN(const bool bias, text.boolean("attention_bias", false));
  if (bias) return text.unsupported("attention_bias", "false");
  LOCKSTEP_ASSIGN_OR_RETURN(const bool gate, text.boolean("attn_output_gate", true));
  if (!gate) return text.unsupported("attn_output_gate", "true");
  LOCKSTEP_ASSIGN_OR_RETURN(const RopeFields rope,
                            read_rope_config(text, attention.head_dim, config.warnings));
  attention.rotary_dim = rope.rotary_dim;
  config.rope = rope.rope;
  if (config.rope.yarn) {  // the model card leaves max_position_embeddings at the trained length
    const YarnConfig& yarn = *config.rope.yarn;
    const double reach = yarn.factor * static_cast<double>(yarn.original_max_positions);
    const double limit = static_cast<double>(kPositionRange.high);
    config.max_positions =
        std::max(config.max_positions, static_cast<int64_t>(std::min(reach, limit)));
  }
  return {};
}

Status Reader::delta() {
  GatedDeltaConfig& delta = config.delta;
  LOCKSTEP_ASSIGN_OR_RETURN(delta.key_heads, text.integer("linear_num_key_heads", kHeadRange));
  LOCKSTEP_ASSIGN_OR_RETURN(delta.value_heads, text.integer("linear_num_value_heads", kHeadRange));
  if (delta.value_heads % delta.key_heads != 0) {
    return text.wrong("linear_num_value_heads",
                      fmt::format("a multiple of linear_num_key_heads, {}", delta.key_heads));
  }
  LOCKSTEP_ASSIGN_OR_RETURN(delta.key_dim, text.integer("linear_key_head_dim", kHeadDimRange));
  LOCKSTEP_ASSIGN_OR_RETURN(delta.value_dim, text.integer("linear_value_head_dim", kHeadDimRange));
  LOCKSTEP_ASSIGN_OR_RETURN(delta.conv_kernel, text.integer("linear_conv_kernel_dim", {1, 64}));
  if (delta.conv_kernel != 4) return text.unsupported("linear_conv_kernel_dim", "4");
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string gate, text.text("output_gate_type", "silu"));
  if (gate == "sigmoid") {
    delta.gate = GateActivation::kSigmoid;
  } else if (gate != "silu" && gate != "swish") {
    return text.unsupported("output_gate_type", R"("silu", "swish" or "sigmoid")");
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string state, text.text("mamba_ssm_dtype", "float32"));
  if (state != "float32") {
    config.warnings.push_back(fmt::format("{}: {} is \"{}\"; the recurrent state is float32 here",
                                          text.file(), text.name_of("mamba_ssm_dtype"), state));
  }
  return {};
}

Status Reader::ffn() {
  if (config.ffn == Ffn::kDense) {
    LOCKSTEP_ASSIGN_OR_RETURN(const int64_t experts,
                              text.integer("num_experts", {0, kExpertRange.high}, 0));
    if (experts != 0) {
      return text.wrong("num_experts", fmt::format("nothing: model_type {} is dense",
                                                   quote_json(config.model_type)));
    }
    LOCKSTEP_ASSIGN_OR_RETURN(config.intermediate_size,
                              text.integer("intermediate_size", {1, int64_t{1} << 20}));
    return {};
  }
  MoeConfig& moe = config.moe;
  LOCKSTEP_ASSIGN_OR_RETURN(moe.experts, text.integer("num_experts", kExpertRange));
  LOCKSTEP_ASSIGN_OR_RETURN(moe.experts_per_token,
                            text.integer("num_experts_per_tok", {1, moe.experts}));
  LOCKSTEP_ASSIGN_OR_RETURN(moe.intermediate, text.integer("moe_intermediate_size", kWidthRange));
  LOCKSTEP_ASSIGN_OR_RETURN(moe.shared_intermediate,
                            text.integer("shared_expert_intermediate_size", kWidthRange));
  LOCKSTEP_ASSIGN_OR_RETURN(const bool renormalise, text.boolean("norm_topk_prob", true));
  if (!renormalise) return text.unsupported("norm_topk_prob", "true");
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t step, text.integer("decoder_sparse_step", {0, 4096}, 1));
  if (step != 1) return text.unsupported("decoder_sparse_step", "1");
  LOCKSTEP_ASSIGN_OR_RETURN(const auto dense_layers, text.integers("mlp_only_layers", kLayerRange));
  if (!dense_layers.empty()) return text.unsupported("mlp_only_layers", "an empty list");
  return {};
}

Status Reader::ties() {
  LOCKSTEP_ASSIGN_OR_RETURN(const bool above, top.boolean("tie_word_embeddings", false));
  LOCKSTEP_ASSIGN_OR_RETURN(config.tie_word_embeddings, text.boolean("tie_word_embeddings", above));
  config.tie_levels_disagree =
      top.has("tie_word_embeddings") && config.tie_word_embeddings != above;
  return {};
}

Status Reader::draft_head() {
  LOCKSTEP_ASSIGN_OR_RETURN(config.mtp_layers, text.integer("mtp_num_hidden_layers", {0, 64}, 0));
  LOCKSTEP_ASSIGN_OR_RETURN(config.mtp_dedicated_embeddings,
                            text.boolean("mtp_use_dedicated_embeddings", false));
  LOCKSTEP_ASSIGN_OR_RETURN(const auto vision, top.object("vision_config"));
  config.has_vision = vision.has_value();
  return {};
}

Status Reader::stop_tokens() {
  LOCKSTEP_ASSIGN_OR_RETURN(config.eos_ids, read_eos_ids(text));
  if (!nested) return {};
  LOCKSTEP_ASSIGN_OR_RETURN(const auto above, read_eos_ids(top));
  merge_eos_ids(above, config.eos_ids);
  return {};
}

}  // namespace

Result<ModelConfig> read_model_config(const json::value& root, std::string_view file) {
  if (!root.is_object()) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: found {}, expected an object", file, describe_found(&root))};
  }
  const JsonFields top(root.get_object(), file, "");
  LOCKSTEP_ASSIGN_OR_RETURN(const auto text, top.object("text_config"));
  Reader reader{.top = top, .text = text ? *text : top, .nested = text.has_value(), .config = {}};
  LOCKSTEP_ASSIGN_OR_RETURN(reader.config.ffn, read_model_type(top, text));
  reader.config.model_type = reader.config.ffn == Ffn::kMoe ? "qwen3_5_moe" : "qwen3_5";
  LOCKSTEP_RETURN_IF_ERROR(reader.sizes());
  LOCKSTEP_RETURN_IF_ERROR(reader.layers());
  LOCKSTEP_RETURN_IF_ERROR(reader.attention());
  LOCKSTEP_RETURN_IF_ERROR(reader.delta());
  LOCKSTEP_RETURN_IF_ERROR(reader.ffn());
  LOCKSTEP_RETURN_IF_ERROR(reader.ties());
  LOCKSTEP_RETURN_IF_ERROR(reader.draft_head());
  LOCKSTEP_RETURN_IF_ERROR(reader.stop_tokens());
  return std::move(reader.config);
}

}  // namespace lockstep
