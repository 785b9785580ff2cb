#include "checkpoint/gguf/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "checkpoint/config_limits.h"

namespace lockstep {
namespace {

constexpr const char* kDense = "qwen35";
constexpr const char* kMoe = "qwen35moe";

// Reads keys below the architecture's prefix.
struct Reader {
  const GgufMetadata& metadata;
  std::string prefix;  // "qwen35."
  int64_t blocks = 0;  // the draft head's included
  ModelConfig config;

  std::string key(std::string_view name) const { return prefix + std::string(name); }
  bool has(std::string_view name) const { return metadata.has(key(name)); }
  Result<int64_t> integer(std::string_view name, IntegerRange range,
                          std::optional<int64_t> fallback = {}) const {
    return metadata.integer(key(name), range, fallback);
  }
  Result<double> number(std::string_view name, NumberRange range,
                        std::optional<double> fallback = {}) const {
    return metadata.number(key(name), range, fallback);
  }
  Error wrong(std::string_view name, std::string_view allowed) const {
    return metadata.wrong(key(name), allowed);
  }
  Error unsupported(std::string_view name, std::string_view allowed) const {
    return metadata.wrong(key(name), allowed, ErrorCode::kUnsupported);
  }
  // One number, or an array that says the same for each block that counts.
  Result<int64_t> per_block(std::string_view name, IntegerRange range) const;

  Status sizes();
  Status layers();
  Status attention();
  Status rope();
  Status scaling();
  Status delta();
  Status ffn();
};

// Arrays have an entry for each block; those of recurrent blocks may be 0.
Result<int64_t> Reader::per_block(std::string_view name, IntegerRange range) const {
  const auto kMost = static_cast<uint64_t>(kLayerRange.high) + 64;
  LOCKSTEP_ASSIGN_OR_RETURN(const auto values,
                            metadata.integers(key(name), {0, range.high}, kMost));
  int64_t common = 0;
  for (const int64_t value : values) {
    if (value != 0 && common != 0 && value != common) {
      return unsupported(name, "the same number for all blocks");
    }
    common = std::max(common, value);
  }
  if (common < range.low) {
    return wrong(name, fmt::format("a whole number from {} to {}", range.low, range.high));
  }
  return common;
}

Status Reader::sizes() {
  LOCKSTEP_ASSIGN_OR_RETURN(config.hidden_size, integer("embedding_length", kWidthRange));
  LOCKSTEP_ASSIGN_OR_RETURN(config.rms_norm_eps,
                            number("attention.layer_norm_rms_epsilon", {0.0, 0.1, true}));
  LOCKSTEP_ASSIGN_OR_RETURN(config.max_positions, integer("context_length", kPositionRange));
  return {};
}

Status Reader::layers() {
  LOCKSTEP_ASSIGN_OR_RETURN(config.mtp_layers, integer("nextn_predict_layers", {0, 64}, 0));
  LOCKSTEP_ASSIGN_OR_RETURN(blocks, integer("block_count", {config.mtp_layers + 1,
                                                            kLayerRange.high + config.mtp_layers}));
  const auto trunk = static_cast<size_t>(blocks - config.mtp_layers);
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t interval,
                            integer("full_attention_interval", kLayerRange, 4));
  LOCKSTEP_ASSIGN_OR_RETURN(
      const auto recurrent,
      metadata.integers(key("attention.recurrent_layers"), {0, 1}, static_cast<uint64_t>(blocks)));
  if (!recurrent.empty() && recurrent.size() < trunk) {
    return wrong("attention.recurrent_layers",
                 fmt::format("one truth value for each of {} blocks", blocks));
  }
  for (size_t i = 0; i < trunk; ++i) {
    const bool full =
        recurrent.empty() ? static_cast<int64_t>(i + 1) % interval == 0 : recurrent[i] == 0;
    config.layers.push_back(full ? Mixer::kFullAttention : Mixer::kGatedDelta);
  }
  return {};
}

Status Reader::attention() {
  AttentionConfig& attention = config.attention;
  LOCKSTEP_ASSIGN_OR_RETURN(attention.heads, per_block("attention.head_count", kHeadRange));
  LOCKSTEP_ASSIGN_OR_RETURN(attention.kv_heads, per_block("attention.head_count_kv", kHeadRange));
  if (attention.heads % attention.kv_heads != 0) {
    return wrong("attention.head_count_kv",
                 fmt::format("a divisor of attention.head_count, {}", attention.heads));
  }
  LOCKSTEP_ASSIGN_OR_RETURN(attention.head_dim, integer("attention.key_length", kHeadDimRange));
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t value_dim,
                            integer("attention.value_length", kHeadDimRange, attention.head_dim));
  if (value_dim != attention.head_dim) {
    return unsupported("attention.value_length",
                       fmt::format("attention.key_length, {}", attention.head_dim));
  }
  return rope();
}

Status Reader::rope() {
  LOCKSTEP_ASSIGN_OR_RETURN(config.rope.theta, number("rope.freq_base", {1.0, 1e12, true}));
  int64_t& rotary = config.attention.rotary_dim;
  LOCKSTEP_ASSIGN_OR_RETURN(rotary,
                            integer("rope.dimension_count", {2, config.attention.head_dim}));
  if (rotary % 2 != 0) return wrong("rope.dimension_count", "an even number");
  constexpr const char* kSections = "rope.dimension_sections";
  LOCKSTEP_ASSIGN_OR_RETURN(const auto sections, metadata.integers(key(kSections), {0, 4096}, 4));
  if (has(kSections)) {
    const bool fourth = sections.size() == 4 && sections[3] != 0;
    if (sections.size() < 3 || fourth) {
      return wrong(kSections, "three whole numbers, and perhaps a 0 after them");
    }
    std::copy_n(sections.begin(), 3, config.rope.mrope_section.begin());
  }
  const auto& used = config.rope.mrope_section;
  const int64_t frequencies = std::accumulate(used.begin(), used.end(), int64_t{0});
  if (2 * frequencies != rotary) {
    return wrong(kSections,
                 fmt::format("numbers with the sum {}, half of rope.dimension_count", rotary / 2));
  }
  return scaling();
}

Status Reader::scaling() {
  constexpr const char* kType = "rope.scaling.type";
  LOCKSTEP_ASSIGN_OR_RETURN(const auto type, metadata.text(key(kType), "none"));
  if (type == "none") return {};
  if (type != "yarn") return unsupported(kType, R"("none" or "yarn")");
  YarnConfig yarn;
  LOCKSTEP_ASSIGN_OR_RETURN(yarn.factor, number("rope.scaling.factor", {1.0, 1024.0}));
  LOCKSTEP_ASSIGN_OR_RETURN(yarn.original_max_positions,
                            integer("rope.scaling.original_context_length", kPositionRange));
  LOCKSTEP_ASSIGN_OR_RETURN(yarn.beta_fast,
                            number("rope.scaling.yarn_beta_fast", {0.0, 1e6, true}, 32.0));
  LOCKSTEP_ASSIGN_OR_RETURN(yarn.beta_slow,
                            number("rope.scaling.yarn_beta_slow", {0.0, 1e6, true}, 1.0));
  if (yarn.beta_fast <= yarn.beta_slow) {
    return wrong("rope.scaling.yarn_beta_fast",
                 fmt::format("more than rope.scaling.yarn_beta_slow, {}", yarn.beta_slow));
  }
  for (const char* other : {"rope.scaling.attn_factor", "rope.scaling.yarn_ext_factor",
                            "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_log_multiplier"}) {
    if (has(other)) return unsupported(other, "nothing: yarn's own 0.1 ln(factor) + 1");
  }
  config.rope.yarn = yarn;
  const double reach = yarn.factor * static_cast<double>(yarn.original_max_positions);
  const double limit = static_cast<double>(kPositionRange.high);
  config.max_positions =
      std::max(config.max_positions, static_cast<int64_t>(std::min(reach, limit)));
  return {};
}

Status Reader::delta() {
  GatedDeltaConfig& delta = config.delta;
  LOCKSTEP_ASSIGN_OR_RETURN(delta.key_heads, integer("ssm.group_count", kHeadRange));
  LOCKSTEP_ASSIGN_OR_RETURN(delta.value_heads, integer("ssm.time_step_rank", kHeadRange));
  if (delta.value_heads % delta.key_heads != 0) {
    return wrong("ssm.time_step_rank",
                 fmt::format("a multiple of ssm.group_count, {}", delta.key_heads));
  }
  LOCKSTEP_ASSIGN_OR_RETURN(delta.key_dim, integer("ssm.state_size", kHeadDimRange));
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t inner,
                            integer("ssm.inner_size", {2, kHeadRange.high * kHeadDimRange.high}));
  delta.value_dim = inner / delta.value_heads;
  if (delta.value_dim * delta.value_heads != inner || delta.value_dim < kHeadDimRange.low ||
      delta.value_dim > kHeadDimRange.high) {
    return wrong("ssm.inner_size",
                 fmt::format("a multiple of ssm.time_step_rank, {}, by {} to {}", delta.value_heads,
                             kHeadDimRange.low, kHeadDimRange.high));
  }
  LOCKSTEP_ASSIGN_OR_RETURN(delta.conv_kernel, integer("ssm.conv_kernel", {1, 64}));
  if (delta.conv_kernel != 4) return unsupported("ssm.conv_kernel", "4");
  if (delta.value_heads != delta.key_heads) delta.order = ValueHeads::kTiled;
  return {};
}

Status Reader::ffn() {
  if (config.ffn == Ffn::kDense) {
    LOCKSTEP_ASSIGN_OR_RETURN(config.intermediate_size,
                              per_block("feed_forward_length", {1, int64_t{1} << 20}));
    return {};
  }
  MoeConfig& moe = config.moe;
  LOCKSTEP_ASSIGN_OR_RETURN(moe.experts, integer("expert_count", kExpertRange));
  LOCKSTEP_ASSIGN_OR_RETURN(moe.experts_per_token, integer("expert_used_count", {1, moe.experts}));
  LOCKSTEP_ASSIGN_OR_RETURN(moe.intermediate, integer("expert_feed_forward_length", kWidthRange));
  LOCKSTEP_ASSIGN_OR_RETURN(moe.shared_intermediate,
                            integer("expert_shared_feed_forward_length", kWidthRange));
  LOCKSTEP_ASSIGN_OR_RETURN(const double scale, number("expert_weights_scale", {0.0, 1e6}, 1.0));
  if (scale != 0.0 && scale != 1.0) return unsupported("expert_weights_scale", "1");
  LOCKSTEP_ASSIGN_OR_RETURN(const bool normalised,
                            metadata.boolean(key("expert_weights_norm"), true));
  if (!normalised) return unsupported("expert_weights_norm", "true");
  return {};
}

Error wrong_architecture(const GgufMetadata& metadata, std::string_view architecture) {
  constexpr const char* kKey = "general.architecture";
  if (architecture == "clip") {
    return metadata.wrong(kKey,
                          R"("qwen35" or "qwen35moe": this is the vision tower (mmproj) of a )"
                          "model; name the file of the language model",
                          ErrorCode::kUnsupported);
  }
  return metadata.wrong(kKey, R"("qwen35" or "qwen35moe": other architectures are not run)",
                        ErrorCode::kUnsupported);
}

}  // namespace

Result<ModelConfig> read_gguf_config(const GgufMetadata& metadata) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto architecture, metadata.text("general.architecture"));
  if (architecture != kDense && architecture != kMoe) {
    return wrong_architecture(metadata, architecture);
  }
  Reader reader{.metadata = metadata, .prefix = std::string(architecture) + ".", .config = {}};
  reader.config.ffn = architecture == kMoe ? Ffn::kMoe : Ffn::kDense;
  reader.config.model_type = architecture == kMoe ? "qwen3_5_moe" : "qwen3_5";
  LOCKSTEP_RETURN_IF_ERROR(reader.sizes());
  LOCKSTEP_RETURN_IF_ERROR(reader.layers());
  LOCKSTEP_RETURN_IF_ERROR(reader.attention());
  LOCKSTEP_RETURN_IF_ERROR(reader.delta());
  LOCKSTEP_RETURN_IF_ERROR(reader.ffn());
  return std::move(reader.config);
}

Result<GenerationConfig> read_gguf_generation(const GgufMetadata& metadata) {
  GenerationConfig out;
  const auto number = [&](const char* key, NumberRange range,
                          std::optional<double>& value) -> Status {
    if (!metadata.has(key)) return {};
    LOCKSTEP_ASSIGN_OR_RETURN(value, metadata.number(key, range));
    return {};
  };
  LOCKSTEP_RETURN_IF_ERROR(number("general.sampling.temp", {0.0, 100.0}, out.temperature));
  LOCKSTEP_RETURN_IF_ERROR(number("general.sampling.top_p", {0.0, 1.0, true}, out.top_p));
  LOCKSTEP_RETURN_IF_ERROR(number("general.sampling.min_p", {0.0, 1.0}, out.min_p));
  LOCKSTEP_RETURN_IF_ERROR(
      number("general.sampling.penalty_repeat", {0.0, 100.0, true}, out.repetition_penalty));
  if (metadata.has("general.sampling.top_k")) {
    LOCKSTEP_ASSIGN_OR_RETURN(out.top_k,
                              metadata.integer("general.sampling.top_k", {0, INT32_MAX}));
  }
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
    if (!metadata.has(key)) continue;
    LOCKSTEP_ASSIGN_OR_RETURN(const int64_t id, metadata.integer(key, {0, INT32_MAX}));
    merge_eos_ids({static_cast<int32_t>(id)}, out.eos_ids);
  }
  return out;
}

}  // namespace lockstep
