#include <fmt/format.h>

#include "checkpoint/gguf/config.h"

namespace lockstep {
namespace {

// Writes keys below the architecture's prefix.
class ConfigKeys {
 public:
  ConfigKeys(const ModelConfig& config, GgufWriter& writer)
      : config_(config),
        writer_(writer),
        prefix_(config.ffn == Ffn::kMoe ? "qwen35moe" : "qwen35") {}

  void add() {
    writer_.add("general.architecture", prefix_);
    prefix_ += ".";
    sizes();
    layers();
    attention();
    rope();
    delta();
    ffn();
  }

 private:
  void integer(const char* name, int64_t value) {
    writer_.add(prefix_ + name, static_cast<uint32_t>(value));
  }
  void number(const char* name, double value) {
    writer_.add(prefix_ + name, static_cast<float>(value));
  }

  void sizes() {
    integer("context_length", config_.max_positions);
    integer("embedding_length", config_.hidden_size);
    number("attention.layer_norm_rms_epsilon", config_.rms_norm_eps);
  }

  void layers() {
    integer("block_count", static_cast<int64_t>(config_.layers.size()) + config_.mtp_layers);
    if (config_.mtp_layers > 0) integer("nextn_predict_layers", config_.mtp_layers);
    std::vector<bool> recurrent;
    for (const Mixer mixer : config_.layers) recurrent.push_back(mixer == Mixer::kGatedDelta);
    recurrent.resize(recurrent.size() + static_cast<size_t>(config_.mtp_layers), false);
    writer_.add_bools(prefix_ + "attention.recurrent_layers", recurrent);
    // For readers that do not know the list: where the first layer of full attention stands.
    int64_t interval = 1;
    for (const Mixer mixer : config_.layers) {
      if (mixer == Mixer::kFullAttention) break;
      ++interval;
    }
    integer("full_attention_interval", interval);
  }

  void attention() {
    const AttentionConfig& attention = config_.attention;
    integer("attention.head_count", attention.heads);
    integer("attention.head_count_kv", attention.kv_heads);
    integer("attention.key_length", attention.head_dim);
    integer("attention.value_length", attention.head_dim);
  }

  void rope() {
    number("rope.freq_base", config_.rope.theta);
    integer("rope.dimension_count", config_.attention.rotary_dim);
    std::vector<int32_t> sections;
    for (const int64_t section : config_.rope.mrope_section) {
      sections.push_back(static_cast<int32_t>(section));
    }
    sections.push_back(0);
    writer_.add(prefix_ + "rope.dimension_sections", std::span<const int32_t>(sections));
    if (!config_.rope.yarn) return;
    const YarnConfig& yarn = *config_.rope.yarn;
    writer_.add(prefix_ + "rope.scaling.type", "yarn");
    number("rope.scaling.factor", yarn.factor);
    integer("rope.scaling.original_context_length", yarn.original_max_positions);
    number("rope.scaling.yarn_beta_fast", yarn.beta_fast);
    number("rope.scaling.yarn_beta_slow", yarn.beta_slow);
  }

  void delta() {
    const GatedDeltaConfig& delta = config_.delta;
    integer("ssm.conv_kernel", delta.conv_kernel);
    integer("ssm.state_size", delta.key_dim);
    integer("ssm.group_count", delta.key_heads);
    integer("ssm.time_step_rank", delta.value_heads);
    integer("ssm.inner_size", delta.value_width());
  }

  void ffn() {
    if (config_.ffn == Ffn::kDense)
      return integer("feed_forward_length", config_.intermediate_size);
    const MoeConfig& moe = config_.moe;
    integer("expert_count", moe.experts);
    integer("expert_used_count", moe.experts_per_token);
    integer("expert_feed_forward_length", moe.intermediate);
    integer("expert_shared_feed_forward_length", moe.shared_intermediate);
  }

  const ModelConfig& config_;
  GgufWriter& writer_;
  std::string prefix_;
};

}  // namespace

Status add_gguf_config(const ModelConfig& config, GgufWriter& writer) {
  if (config.delta.gate != GateActivation::kSilu) {
    return Error{ErrorCode::kUnsupported,
                 "GGUF has no word for this model's output_gate_type \"sigmoid\"; write mlx or "
                 "bf16"};
  }
  if (static_cast<float>(config.rms_norm_eps) <= 0.0f) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("rms_norm_eps {} is 0 in the float32 of GGUF", config.rms_norm_eps)};
  }
  ConfigKeys(config, writer).add();
  return {};
}

void add_gguf_generation(const GenerationConfig& generation, GgufWriter& writer) {
  const auto number = [&](const char* key, const std::optional<double>& value) {
    if (value) writer.add(key, static_cast<float>(*value));
  };
  const bool greedy = generation.do_sample && !*generation.do_sample;
  number("general.sampling.temp", greedy ? std::optional<double>(0.0) : generation.temperature);
  number("general.sampling.top_p", generation.top_p);
  number("general.sampling.min_p", generation.min_p);
  number("general.sampling.penalty_repeat", generation.repetition_penalty);
  if (generation.top_k) {
    writer.add("general.sampling.top_k", static_cast<uint32_t>(*generation.top_k));
  }
}

}  // namespace lockstep
