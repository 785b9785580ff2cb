#include "checkpoint/draft_head_check.h"

#include <fmt/format.h>

#include <string>

#include "checkpoint/matrix_reader.h"
#include "checkpoint/tensor_names.h"

namespace lockstep {
namespace {

Status check_attention(Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config;
  const int64_t width = config.hidden_size;
  const int64_t query = config.attention.heads * config.attention.head_dim;
  const int64_t key = config.attention.kv_heads * config.attention.head_dim;
  const struct {
    const char* module;
    int64_t rows;
    int64_t cols;
  } matrices[] = {
      {"mtp.fc", width, 2 * width},
      {"mtp.layers.0.self_attn.q_proj", 2 * query, width},
      {"mtp.layers.0.self_attn.k_proj", key, width},
      {"mtp.layers.0.self_attn.v_proj", key, width},
      {"mtp.layers.0.self_attn.o_proj", width, query},
  };
  for (const auto& matrix : matrices) {
    LOCKSTEP_RETURN_IF_ERROR(read_matrix(checkpoint, matrix.module, matrix.rows, matrix.cols));
  }
  return {};
}

Status check_norms(Checkpoint& checkpoint) {
  const int64_t width = checkpoint.config.hidden_size;
  const int64_t head = checkpoint.config.attention.head_dim;
  const struct {
    const char* name;
    int64_t size;
  } vectors[] = {
      {"mtp.pre_fc_norm_embedding.weight", width},
      {"mtp.pre_fc_norm_hidden.weight", width},
      {"mtp.norm.weight", width},
      {"mtp.layers.0.input_layernorm.weight", width},
      {"mtp.layers.0.post_attention_layernorm.weight", width},
      {"mtp.layers.0.self_attn.q_norm.weight", head},
      {"mtp.layers.0.self_attn.k_norm.weight", head},
  };
  for (const auto& vector : vectors) {
    LOCKSTEP_RETURN_IF_ERROR(read_vector(checkpoint, vector.name, vector.size, false));
  }
  return {};
}

// gate, up and down projections under `prefix`.
Status check_gated_mlp(Checkpoint& checkpoint, const std::string& prefix, int64_t intermediate) {
  const int64_t width = checkpoint.config.hidden_size;
  LOCKSTEP_RETURN_IF_ERROR(read_matrix(checkpoint, prefix + ".gate_proj", intermediate, width));
  LOCKSTEP_RETURN_IF_ERROR(read_matrix(checkpoint, prefix + ".up_proj", intermediate, width));
  LOCKSTEP_RETURN_IF_ERROR(read_matrix(checkpoint, prefix + ".down_proj", width, intermediate));
  return {};
}

Status check_ffn(Checkpoint& checkpoint) {
  const std::string mlp = "mtp.layers.0.mlp";
  const ModelConfig& config = checkpoint.config;
  if (config.ffn == Ffn::kDense) return check_gated_mlp(checkpoint, mlp, config.intermediate_size);
  const MoeConfig& moe = config.moe;
  const int64_t width = config.hidden_size;
  LOCKSTEP_RETURN_IF_ERROR(read_matrix(checkpoint, mlp + ".gate", moe.experts, width));
  LOCKSTEP_RETURN_IF_ERROR(read_matrix(checkpoint, mlp + ".shared_expert_gate", 1, width));
  LOCKSTEP_RETURN_IF_ERROR(
      check_gated_mlp(checkpoint, mlp + ".shared_expert", moe.shared_intermediate));
  for (const ExpertMatrix which : {ExpertMatrix::kGate, ExpertMatrix::kUp}) {
    LOCKSTEP_RETURN_IF_ERROR(
        read_expert_stack(checkpoint, mlp, which, moe.experts, moe.intermediate, width));
  }
  LOCKSTEP_RETURN_IF_ERROR(read_expert_stack(checkpoint, mlp, ExpertMatrix::kDown, moe.experts,
                                             width, moe.intermediate));
  return {};
}

Status check_nothing_left(const Checkpoint& checkpoint) {
  const auto& tensors = checkpoint.tensors.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (role_of(tensors[i].name) != TensorRole::kDraft || checkpoint.used[i]) continue;
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("{}: tensor {} {} is no part of this model's draft head", tensors[i].file,
                    tensors[i].source_name, format_shape(tensors[i].shape))};
  }
  return {};
}

}  // namespace

Status check_draft_head(Checkpoint& checkpoint) {
  const std::vector<bool> used = checkpoint.used;
  const std::vector<std::string> warnings = checkpoint.warnings;
  LOCKSTEP_RETURN_IF_ERROR(check_attention(checkpoint));
  LOCKSTEP_RETURN_IF_ERROR(check_norms(checkpoint));
  LOCKSTEP_RETURN_IF_ERROR(check_ffn(checkpoint));
  LOCKSTEP_RETURN_IF_ERROR(check_nothing_left(checkpoint));
  checkpoint.used = used;
  checkpoint.warnings = warnings;
  return {};
}

}  // namespace lockstep
