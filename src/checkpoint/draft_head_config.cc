#include "checkpoint/draft_head_config.h"

#include <fmt/format.h>

#include "checkpoint/json_fields.h"
#include "checkpoint/model_type.h"

namespace lockstep {
namespace {

Status check_kind(const JsonFields& top, const std::optional<JsonFields>& text, Ffn wanted) {
  const JsonFields& fields = text ? *text : top;
  const bool own_type = top.find("model_type") != nullptr &&
                        *top.find("model_type") == json::string_view(kDraftHeadModelType.data(),
                                                                     kDraftHeadModelType.size());
  Ffn found = fields.has("num_experts") ? Ffn::kMoe : Ffn::kDense;
  if (!own_type) {
    LOCKSTEP_ASSIGN_OR_RETURN(found, read_model_type(top, text));
  }
  if (found == wanted) return {};
  const bool moe = wanted == Ffn::kMoe;
  return fields.wrong("num_experts", moe ? "the experts of this mixture-of-experts model"
                                         : "nothing: this model is dense");
}

}  // namespace

Status check_draft_head_config(const json::value& root, std::string_view file,
                               const ModelConfig& model) {
  if (!root.is_object()) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: found {}, expected an object", file, describe_found(&root))};
  }
  const JsonFields top(root.get_object(), file, "");
  LOCKSTEP_ASSIGN_OR_RETURN(const auto text, top.object("text_config"));
  LOCKSTEP_RETURN_IF_ERROR(check_kind(top, text, model.ffn));
  const JsonFields& fields = text ? *text : top;
  const bool moe = model.ffn == Ffn::kMoe;
  const struct {
    const char* key;
    int64_t wanted;
    bool matters;
  } sizes[] = {
      {"hidden_size", model.hidden_size, true},
      {"vocab_size", model.vocab_size, true},
      {"num_attention_heads", model.attention.heads, true},
      {"num_key_value_heads", model.attention.kv_heads, true},
      {"head_dim", model.attention.head_dim, true},
      {"intermediate_size", model.intermediate_size, !moe},
      {"num_experts", model.moe.experts, moe},
      {"num_experts_per_tok", model.moe.experts_per_token, moe},
      {"moe_intermediate_size", model.moe.intermediate, moe},
      {"shared_expert_intermediate_size", model.moe.shared_intermediate, moe},
  };
  for (const auto& size : sizes) {
    if (!size.matters || !fields.has(size.key)) continue;
    LOCKSTEP_ASSIGN_OR_RETURN(const int64_t found, fields.integer(size.key, {0, INT64_MAX}));
    if (found != size.wanted) {
      return fields.wrong(size.key, fmt::format("{}, as in the model", size.wanted));
    }
  }
  return {};
}

}  // namespace lockstep
