#include "checkpoint/model_type.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

struct KnownType {
  std::string_view name;
  Ffn ffn;
};

constexpr KnownType kModelTypes[] = {
    {"qwen3_5", Ffn::kDense},
    {"qwen3_5_text", Ffn::kDense},
    {"qwen3_5_moe", Ffn::kMoe},
    {"qwen3_5_moe_text", Ffn::kMoe},
};

// What a user is likely to try, and why it is refused.
constexpr struct {
  std::string_view name;
  std::string_view why;
} kRefusedTypes[] = {
    {"qwen4_exp", "Qwen3.8-Flash-Next has another architecture (per-layer embeddings)"},
    {"qwen3_next", "Qwen3-Next, the ancestor, has other projections and norms"},
    {kDraftHeadModelType, "this is a draft head, not a model: name it with --mtp beside its model"},
};

Error refuse(const JsonFields& fields, std::string_view type) {
  std::string message =
      fmt::format("{}: {}: found {}, expected \"qwen3_5\" or \"qwen3_5_moe\" (Qwen3.5, 3.6, 3.8)",
                  fields.file(), fields.name_of("model_type"), quote_json(type.substr(0, 64)));
  for (const auto& refused : kRefusedTypes) {
    if (refused.name == type) message += fmt::format("; {}", refused.why);
  }
  return Error{ErrorCode::kUnsupported, std::move(message)};
}

// nullopt: no model_type here.
Result<std::optional<Ffn>> ffn_of(const JsonFields& fields) {
  if (!fields.has("model_type")) return std::optional<Ffn>();
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string type, fields.text("model_type"));
  for (const KnownType& known : kModelTypes) {
    if (known.name == type) return std::optional<Ffn>(known.ffn);
  }
  return refuse(fields, type);
}

}  // namespace

Result<Ffn> read_model_type(const JsonFields& top, const std::optional<JsonFields>& text) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto above, ffn_of(top));
  std::optional<Ffn> below;
  if (text) {
    LOCKSTEP_ASSIGN_OR_RETURN(below, ffn_of(*text));
  }
  if (above && below && *above != *below) {
    return text->wrong("model_type", fmt::format("a kind that agrees with model_type {} above it",
                                                 describe_found(top.find("model_type"))));
  }
  if (below) return *below;
  if (above) return *above;
  return top.wrong("model_type", R"("qwen3_5" or "qwen3_5_moe")");
}

}  // namespace lockstep
