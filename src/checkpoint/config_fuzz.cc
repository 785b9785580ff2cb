// libFuzzer target: every JSON file of a checkpoint but the safetensors header. Whatever is
// accepted must be consistent.
#include <cstdint>
#include <numeric>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "checkpoint/config_reader.h"
#include "checkpoint/draft_head_config.h"
#include "checkpoint/generation_config.h"
#include "checkpoint/quantization_config.h"
#include "checkpoint/safetensors_index.h"

namespace lockstep {
namespace {

void check_model(const ModelConfig& config) {
  const AttentionConfig& attention = config.attention;
  const auto& section = config.rope.mrope_section;
  LOCKSTEP_CHECK(attention.kv_heads > 0 && attention.heads % attention.kv_heads == 0, "heads");
  LOCKSTEP_CHECK(attention.rotary_dim > 0 && attention.rotary_dim <= attention.head_dim, "rotary");
  LOCKSTEP_CHECK(
      2 * std::accumulate(section.begin(), section.end(), int64_t{0}) == attention.rotary_dim,
      "sections");
  LOCKSTEP_CHECK(
      config.delta.key_heads > 0 && config.delta.value_heads % config.delta.key_heads == 0,
      "value heads");
  LOCKSTEP_CHECK(!config.layers.empty() && config.max_positions > 0, "layers");
  LOCKSTEP_CHECK(config.ffn == Ffn::kDense ? config.intermediate_size > 0
                                           : config.moe.experts_per_token > 0 &&
                                                 config.moe.experts_per_token <= config.moe.experts,
                 "experts");
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lockstep;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto root = parse_json(text, "fuzz");
  if (!root.ok()) return 0;
  if (const auto config = read_model_config(root.value(), "fuzz"); config.ok()) {
    check_model(config.value());
    static_cast<void>(check_draft_head_config(root.value(), "fuzz", config.value()));
  }
  static_cast<void>(read_quantization_config(root.value(), "fuzz", NameScope::kModel));
  static_cast<void>(read_generation_config(root.value(), "fuzz"));
  if (const auto index = read_safetensors_index(root.value(), "fuzz"); index.ok()) {
    for (const auto& [name, shard] : index.value().shard_of) {
      LOCKSTEP_CHECK(shard.find('/') == std::string::npos && shard != "..", "shard path");
    }
  }
  return 0;
}
