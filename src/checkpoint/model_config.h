// What a checkpoint of the Qwen3.5 family says about its model, checked and complete. The one
// source of shapes for everything above. Symbols in comments are those of the field's papers and
// docs/architecture.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class Mixer : uint8_t { kGatedDelta, kFullAttention };
enum class Ffn : uint8_t { kDense, kMoe };
// Activation of the DeltaNet output gate (`output_gate_type`); the attention gate is always
// sigmoid.
enum class GateActivation : uint8_t { kSilu, kSigmoid };

// Which key head a value head h of Hv belongs to: h / (Hv / Hk), or h % Hk as GGUF files have it.
// The order of value heads is that of every tensor that has them.
enum class ValueHeads : uint8_t { kGrouped, kTiled };

struct AttentionConfig {
  int64_t heads = 0;       // Nq
  int64_t kv_heads = 0;    // Nkv, divides Nq
  int64_t head_dim = 0;    // Dh, 256 in every release
  int64_t rotary_dim = 0;  // R, even, at most head_dim
};

struct GatedDeltaConfig {
  int64_t key_heads = 0;    // Hk
  int64_t value_heads = 0;  // Hv, a multiple of Hk
  int64_t key_dim = 0;      // Dk
  int64_t value_dim = 0;    // Dv
  int64_t conv_kernel = 0;  // taps of the causal convolution, 4
  GateActivation gate = GateActivation::kSilu;
  ValueHeads order = ValueHeads::kGrouped;

  int64_t conv_channels() const { return 2 * key_heads * key_dim + value_heads * value_dim; }  // C
  int64_t value_width() const { return value_heads * value_dim; }                              // Vd
};

struct MoeConfig {
  int64_t experts = 0;              // E
  int64_t experts_per_token = 0;    // k
  int64_t intermediate = 0;         // I
  int64_t shared_intermediate = 0;  // Is
};

struct YarnConfig {
  double factor = 1.0;
  int64_t original_max_positions = 0;
  double beta_fast = 32.0;
  double beta_slow = 1.0;
};

struct RopeConfig {
  double theta = 0.0;
  std::array<int64_t, 3> mrope_section = {11, 11, 10};  // frequencies per axis: time, height, width
  std::optional<YarnConfig> yarn;
};

struct ModelConfig {
  std::string model_type;  // "qwen3_5" or "qwen3_5_moe"
  Ffn ffn = Ffn::kDense;
  int64_t vocab_size = 0;         // V, rows of the embedding, padding included
  int64_t hidden_size = 0;        // H
  int64_t intermediate_size = 0;  // F, dense only
  int64_t max_positions = 0;
  double rms_norm_eps = 0.0;
  bool tie_word_embeddings = false;  // text_config, else the top level, else false
  bool tie_levels_disagree = false;  // text_config and the top level say different things
  std::vector<Mixer> layers;         // L entries
  AttentionConfig attention;
  GatedDeltaConfig delta;
  MoeConfig moe;
  RopeConfig rope;
  int64_t mtp_layers = 0;  // of the draft head; 0 or 1 in an opened checkpoint
  bool mtp_dedicated_embeddings = false;
  bool has_vision = false;            // the checkpoint describes a vision tower
  std::vector<int32_t> eos_ids;       // config and generation_config merged, ascending
  std::vector<std::string> warnings;  // what was found odd but could be read, a sentence each
};

}  // namespace lockstep
