#include "checkpoint/gguf/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/gguf/config.h"
#include "checkpoint/gguf/names.h"

namespace lockstep {
namespace {

// Full-attention blocks may keep q (with its gates), k and v in one attn_qkv, which has the name of
// a recurrent block's projection.
bool is_fused_attention(const TensorRecord& record, const ModelConfig& config) {
  if (!record.name.ends_with("linear_attn.in_proj_qkv.weight")) return false;
  if (record.name.starts_with("mtp.")) return true;
  for (size_t i = 0; i < config.layers.size(); ++i) {
    if (record.name.starts_with(fmt::format("model.layers.{}.", i))) {
      return config.layers[i] == Mixer::kFullAttention;
    }
  }
  return false;
}

Status split_fused_attention(const TensorRecord& fused, const AttentionConfig& attention,
                             std::vector<TensorRecord>& out) {
  const int64_t q_rows = 2 * attention.heads * attention.head_dim;
  const int64_t kv_rows = attention.kv_heads * attention.head_dim;
  if (fused.shape.size() != 2 || fused.shape[0] != q_rows + 2 * kv_rows) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: tensor {}: found {}, expected {} rows: q with its gates, k and v",
                             fused.file, fused.source_name, format_shape(fused.shape),
                             q_rows + 2 * kv_rows)};
  }
  const std::string layer = fused.name.substr(0, fused.name.find("linear_attn."));
  const size_t row_bytes = fused.bytes / static_cast<size_t>(fused.shape[0]);
  size_t first = 0;
  const struct {
    const char* name;
    int64_t rows;
  } parts[] = {{"q_proj", q_rows}, {"k_proj", kv_rows}, {"v_proj", kv_rows}};
  for (const auto& part : parts) {
    TensorRecord record = fused;
    record.name = fmt::format("{}self_attn.{}.weight", layer, part.name);
    record.shape[0] = part.rows;
    record.data += first * row_bytes;
    record.bytes = static_cast<size_t>(part.rows) * row_bytes;
    first += static_cast<size_t>(part.rows);
    out.push_back(std::move(record));
  }
  return {};
}

// Vocabulary and tied head, which the tensors tell.
Status settle_ends(GgufModel& model) {
  bool head = false;
  const TensorRecord* embedding = nullptr;
  for (const TensorRecord& record : model.files.tensors) {
    if (record.name == "model.embed_tokens.weight") embedding = &record;
    head = head || record.name == "lm_head.weight";
  }
  if (embedding == nullptr || embedding->shape.size() != 2) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: tensor token_embd.weight is {}", model.files.metadata.file(),
                             embedding == nullptr ? "missing" : "no matrix")};
  }
  model.config.vocab_size = embedding->shape[0];
  model.config.tie_word_embeddings = !head;
  return {};
}

}  // namespace

Result<GgufModel> open_gguf_model(const std::filesystem::path& path) {
  GgufModel model;
  LOCKSTEP_ASSIGN_OR_RETURN(model.files, open_gguf(path));
  LOCKSTEP_ASSIGN_OR_RETURN(model.config, read_gguf_config(model.files.metadata));
  LOCKSTEP_ASSIGN_OR_RETURN(model.generation, read_gguf_generation(model.files.metadata));
  const auto trunk_layers = static_cast<int64_t>(model.config.layers.size());
  std::vector<TensorRecord> tensors;
  for (TensorRecord& record : model.files.tensors) {
    record.name = canonical_gguf_name(record.source_name, trunk_layers);
    if (is_fused_attention(record, model.config)) {
      LOCKSTEP_RETURN_IF_ERROR(split_fused_attention(record, model.config.attention, tensors));
      continue;
    }
    if (record.name.ends_with("shared_expert_gate.weight") && record.shape.size() == 1) {
      record.shape.insert(record.shape.begin(), 1);
    }
    if (record.name == "mtp.embed_tokens.weight" || record.name == "mtp.lm_head.weight") {
      model.config.mtp_dedicated_embeddings = true;
    }
    tensors.push_back(std::move(record));
  }
  model.files.tensors = std::move(tensors);
  LOCKSTEP_RETURN_IF_ERROR(settle_ends(model));
  return model;
}

}  // namespace lockstep
