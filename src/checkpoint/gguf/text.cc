#include "checkpoint/gguf/text.h"

#include "checkpoint/config_limits.h"

namespace lockstep {
namespace {

Result<std::optional<int64_t>> optional_id(const GgufMetadata& metadata, std::string_view key,
                                           size_t tokens) {
  if (!metadata.has(key)) return std::optional<int64_t>();
  LOCKSTEP_ASSIGN_OR_RETURN(const int64_t id,
                            metadata.integer(key, {0, static_cast<int64_t>(tokens) - 1}));
  return std::optional<int64_t>(id);
}

}  // namespace

Result<GgufText> read_gguf_text(const GgufMetadata& metadata) {
  GgufText out;
  constexpr const char* kTokens = "tokenizer.ggml.tokens";
  if (!metadata.has(kTokens)) {
    return metadata.wrong(kTokens, "the vocabulary", ErrorCode::kNotFound);
  }
  const auto most = static_cast<uint64_t>(kVocabRange.high);
  LOCKSTEP_ASSIGN_OR_RETURN(out.model, metadata.text("tokenizer.ggml.model"));
  LOCKSTEP_ASSIGN_OR_RETURN(out.pre, metadata.text("tokenizer.ggml.pre", ""));
  LOCKSTEP_ASSIGN_OR_RETURN(out.tokens, metadata.texts(kTokens, most));
  LOCKSTEP_ASSIGN_OR_RETURN(out.types,
                            metadata.integers("tokenizer.ggml.token_type", {0, 255}, most));
  if (out.types.size() != out.tokens.size()) {
    return metadata.wrong("tokenizer.ggml.token_type", "one type for each token");
  }
  LOCKSTEP_ASSIGN_OR_RETURN(out.merges, metadata.texts("tokenizer.ggml.merges", most));
  LOCKSTEP_ASSIGN_OR_RETURN(out.add_bos, metadata.boolean("tokenizer.ggml.add_bos_token", false));
  const struct {
    const char* key;
    std::optional<int64_t>& id;
  } ids[] = {{"tokenizer.ggml.bos_token_id", out.bos_id},
             {"tokenizer.ggml.eos_token_id", out.eos_id},
             {"tokenizer.ggml.padding_token_id", out.padding_id}};
  for (const auto& entry : ids) {
    LOCKSTEP_ASSIGN_OR_RETURN(entry.id, optional_id(metadata, entry.key, out.tokens.size()));
  }
  if (metadata.has("tokenizer.chat_template")) {
    LOCKSTEP_ASSIGN_OR_RETURN(out.chat_template, metadata.text("tokenizer.chat_template"));
  }
  return out;
}

void add_gguf_text(const GgufText& text, GgufWriter& writer) {
  writer.add("tokenizer.ggml.model", text.model);
  writer.add("tokenizer.ggml.pre", text.pre);
  writer.add("tokenizer.ggml.tokens", std::span<const std::string_view>(text.tokens));
  const std::vector<int32_t> types(text.types.begin(), text.types.end());
  writer.add("tokenizer.ggml.token_type", std::span<const int32_t>(types));
  writer.add("tokenizer.ggml.merges", std::span<const std::string_view>(text.merges));
  writer.add("tokenizer.ggml.add_bos_token", text.add_bos);
  const struct {
    const char* key;
    const std::optional<int64_t>& id;
  } ids[] = {{"tokenizer.ggml.bos_token_id", text.bos_id},
             {"tokenizer.ggml.eos_token_id", text.eos_id},
             {"tokenizer.ggml.padding_token_id", text.padding_id}};
  for (const auto& entry : ids) {
    if (entry.id) writer.add(entry.key, static_cast<uint32_t>(*entry.id));
  }
  if (text.chat_template) writer.add("tokenizer.chat_template", *text.chat_template);
}

}  // namespace lockstep
