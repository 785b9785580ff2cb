#include "checkpoint/gguf/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/check.h"

namespace lockstep {
namespace {

struct NamePair {
  std::string_view stored;
  std::string_view canonical;
};

constexpr NamePair kModelNames[] = {
    {"token_embd.weight", "model.embed_tokens.weight"},
    {"output_norm.weight", "model.norm.weight"},
    {"output.weight", "lm_head.weight"},
};

// Within a block.
constexpr NamePair kBlockNames[] = {
    {"attn_norm.weight", "input_layernorm.weight"},
    {"post_attention_norm.weight", "post_attention_layernorm.weight"},
    {"attn_qkv.weight", "linear_attn.in_proj_qkv.weight"},
    {"attn_gate.weight", "linear_attn.in_proj_z.weight"},
    {"ssm_alpha.weight", "linear_attn.in_proj_a.weight"},
    {"ssm_beta.weight", "linear_attn.in_proj_b.weight"},
    {"ssm_a", "linear_attn.A_log"},
    {"ssm_dt.bias", "linear_attn.dt_bias"},
    {"ssm_conv1d.weight", "linear_attn.conv1d.weight"},
    {"ssm_norm.weight", "linear_attn.norm.weight"},
    {"ssm_out.weight", "linear_attn.out_proj.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"attn_q_norm.weight", "self_attn.q_norm.weight"},
    {"attn_k_norm.weight", "self_attn.k_norm.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
    {"ffn_gate_inp.weight", "mlp.gate.weight"},
    {"ffn_gate_exps.weight", "mlp.switch_mlp.gate_proj.weight"},
    {"ffn_up_exps.weight", "mlp.switch_mlp.up_proj.weight"},
    {"ffn_down_exps.weight", "mlp.switch_mlp.down_proj.weight"},
    {"ffn_gate_up_exps.weight", "mlp.experts.gate_up_proj"},
    {"ffn_gate_inp_shexp.weight", "mlp.shared_expert_gate.weight"},
    {"ffn_gate_shexp.weight", "mlp.shared_expert.gate_proj.weight"},
    {"ffn_up_shexp.weight", "mlp.shared_expert.up_proj.weight"},
    {"ffn_down_shexp.weight", "mlp.shared_expert.down_proj.weight"},
};

// Within the draft head's block, beside those of a block.
constexpr NamePair kDraftNames[] = {
    {"nextn.eh_proj.weight", "mtp.fc.weight"},
    {"nextn.enorm.weight", "mtp.pre_fc_norm_embedding.weight"},
    {"nextn.hnorm.weight", "mtp.pre_fc_norm_hidden.weight"},
    {"nextn.shared_head_norm.weight", "mtp.norm.weight"},
    {"nextn.embed_tokens.weight", "mtp.embed_tokens.weight"},
    {"nextn.shared_head_head.weight", "mtp.lm_head.weight"},
};

template <size_t kCount>
std::optional<std::string> look_up(const NamePair (&names)[kCount], std::string_view stored,
                                   const std::string& prefix) {
  for (const NamePair& pair : names) {
    if (pair.stored == stored) return prefix + std::string(pair.canonical);
  }
  return std::nullopt;
}

template <size_t kCount>
const NamePair* find_canonical(const NamePair (&names)[kCount], std::string_view canonical) {
  for (const NamePair& pair : names) {
    if (pair.canonical == canonical) return &pair;
  }
  return nullptr;
}

}  // namespace

std::string stored_gguf_name(std::string_view name, int64_t trunk_layers) {
  if (const NamePair* pair = find_canonical(kModelNames, name)) return std::string(pair->stored);
  if (const NamePair* pair = find_canonical(kDraftNames, name)) {
    return fmt::format("blk.{}.{}", trunk_layers, pair->stored);
  }
  constexpr std::string_view kTrunk = "model.layers.";
  constexpr std::string_view kDraft = "mtp.layers.0.";
  std::string block = std::to_string(trunk_layers);
  std::string_view part;
  if (name.starts_with(kTrunk)) {
    const size_t end = std::min(name.find('.', kTrunk.size()), name.size() - 1);
    block = name.substr(kTrunk.size(), end - kTrunk.size());
    part = name.substr(end + 1);
  } else if (name.starts_with(kDraft)) {
    part = name.substr(kDraft.size());
  }
  const NamePair* pair = find_canonical(kBlockNames, part);
  LOCKSTEP_CHECK(pair != nullptr, name);
  return fmt::format("blk.{}.{}", block, pair->stored);
}

std::string canonical_gguf_name(std::string_view name, int64_t trunk_layers) {
  const std::string unknown(name);
  if (const auto known = look_up(kModelNames, name, "")) return *known;
  for (const std::string_view vision : {"v.", "mm."}) {
    if (name.starts_with(vision)) return "visual." + unknown;
  }
  constexpr std::string_view kBlock = "blk.";
  if (!name.starts_with(kBlock)) return unknown;
  const std::string_view rest = name.substr(kBlock.size());
  int64_t block = 0;
  const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), block);
  const auto digits = static_cast<size_t>(end - rest.data());
  if (fault != std::errc() || digits >= rest.size() || rest[digits] != '.' || block < 0 ||
      block > trunk_layers) {
    return unknown;
  }
  const std::string_view part = rest.substr(digits + 1);
  if (block < trunk_layers) {
    return look_up(kBlockNames, part, fmt::format("model.layers.{}.", block)).value_or(unknown);
  }
  if (const auto draft = look_up(kDraftNames, part, "")) return *draft;
  return look_up(kBlockNames, part, "mtp.layers.0.").value_or(unknown);
}

}  // namespace lockstep
