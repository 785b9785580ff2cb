#include "apps/model_text.h"

#include <fmt/format.h>

#include <string>

#include "checkpoint/gguf/text.h"
#include "text/token_list.h"

namespace lockstep {
namespace {

SpecialTokens special_tokens(const GgufText& text) {
  const struct {
    const char* name;
    std::optional<int64_t> id;
  } entries[] = {
      {"bos_token", text.bos_id}, {"eos_token", text.eos_id}, {"pad_token", text.padding_id}};
  SpecialTokens tokens;
  for (const auto& entry : entries) {
    if (entry.id) tokens.emplace_back(entry.name, text.tokens[static_cast<size_t>(*entry.id)]);
  }
  return tokens;
}

}  // namespace

Result<TokenizerFile> tokenizer_file_of(const Checkpoint& checkpoint) {
  LOCKSTEP_ASSIGN_OR_RETURN(const GgufText text, read_gguf_text(checkpoint.gguf));
  const TokenList list = {.model = text.model,
                          .pre = text.pre,
                          .tokens = text.tokens,
                          .types = text.types,
                          .merges = text.merges,
                          .add_bos = text.add_bos};
  return read_token_list(list, checkpoint.path.string());
}

Result<Tokenizer> tokenizer_of(const Checkpoint& checkpoint) {
  if (checkpoint.layout != Layout::kGguf) {
    return load_tokenizer(checkpoint.path / "tokenizer.json");
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const TokenizerFile file, tokenizer_file_of(checkpoint));
  return Tokenizer::make(file, checkpoint.path.string());
}

Result<ChatTemplate> chat_template_of(const Checkpoint& checkpoint) {
  if (checkpoint.layout != Layout::kGguf) return load_chat_template(checkpoint.path);
  LOCKSTEP_ASSIGN_OR_RETURN(const GgufText text, read_gguf_text(checkpoint.gguf));
  if (!text.chat_template) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: the file has no chat template (tokenizer.chat_template)",
                             checkpoint.path.string())};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(
      ChatTemplate parsed,
      parse_chat_template(std::string(*text.chat_template),
                          checkpoint.path.string() + " (tokenizer.chat_template)"));
  parsed.set_special_tokens(special_tokens(text));
  return parsed;
}

}  // namespace lockstep
