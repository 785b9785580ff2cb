#include "apps/convert_text.h"

#include "apps/model_text.h"
#include "checkpoint/config_writer.h"
#include "checkpoint/mapped_file.h"
#include "text/tokenizer_writer.h"

namespace lockstep {
namespace {

constexpr size_t kMaxTokenizerBytes = size_t{256} << 20;

// The id of the added token `content`.
std::optional<int64_t> find_added(const TokenizerFile& file, std::string_view content) {
  for (const AddedToken& token : file.added_tokens) {
    if (token.content == content) return token.id;
  }
  return std::nullopt;
}

Result<std::vector<TextFile>> copied_files(const std::filesystem::path& folder) {
  std::vector<TextFile> files;
  for (const char* name :
       {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "chat_template.json",
        "generation_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
        "merges.txt"}) {
    if (!file_exists(folder / name)) continue;
    LOCKSTEP_ASSIGN_OR_RETURN(std::string text, read_text_file(folder / name, kMaxTokenizerBytes));
    files.push_back({name, std::move(text)});
  }
  return files;
}

json::object tokenizer_config(const GgufText& text) {
  json::object config = {{"tokenizer_class", "Qwen2Tokenizer"},
                         {"add_prefix_space", false},
                         {"clean_up_tokenization_spaces", false},
                         {"unk_token", nullptr}};
  const struct {
    const char* key;
    const std::optional<int64_t>& id;
  } tokens[] = {
      {"bos_token", text.bos_id}, {"eos_token", text.eos_id}, {"pad_token", text.padding_id}};
  for (const auto& token : tokens) {
    config[token.key] =
        token.id ? json::value(text.tokens[static_cast<size_t>(*token.id)]) : json::value(nullptr);
  }
  return config;
}

}  // namespace

Result<std::vector<TextFile>> text_for_folder(const Checkpoint& checkpoint) {
  if (checkpoint.layout != Layout::kGguf) return copied_files(checkpoint.path);
  LOCKSTEP_ASSIGN_OR_RETURN(const GgufText text, read_gguf_text(checkpoint.gguf));
  LOCKSTEP_ASSIGN_OR_RETURN(const TokenizerFile file, tokenizer_file_of(checkpoint));
  std::vector<TextFile> files = {
      {"tokenizer.json", tokenizer_json(file)},
      {"tokenizer_config.json", dump_json(tokenizer_config(text), 1)},
      {"generation_config.json", dump_json(generation_config_json(checkpoint.generation), 1)}};
  if (text.chat_template) {
    files.push_back({"chat_template.jinja", std::string(*text.chat_template)});
  }
  return files;
}

GgufText TextForGguf::view() const {
  if (stored) return *stored;
  GgufText text;
  text.model = "gpt2";
  text.pre = "qwen35";
  text.tokens.assign(texts.tokens.begin(), texts.tokens.end());
  text.types = texts.types;
  text.merges.assign(texts.merges.begin(), texts.merges.end());
  text.eos_id = eos_id;
  text.padding_id = padding_id;
  if (chat_template) text.chat_template = *chat_template;
  return text;
}

Result<TextForGguf> text_for_gguf(const Checkpoint& checkpoint) {
  TextForGguf out;
  if (checkpoint.layout == Layout::kGguf) {
    LOCKSTEP_ASSIGN_OR_RETURN(out.stored, read_gguf_text(checkpoint.gguf));
    return out;
  }
  const std::filesystem::path path = checkpoint.path / "tokenizer.json";
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string json, read_text_file(path, kMaxTokenizerBytes));
  LOCKSTEP_ASSIGN_OR_RETURN(const TokenizerFile file, parse_tokenizer_file(json, path.string()));
  LOCKSTEP_ASSIGN_OR_RETURN(out.texts,
                            make_token_list(file, checkpoint.config.vocab_size, path.string()));
  out.eos_id = find_added(file, "<|im_end|>");
  out.padding_id = find_added(file, "<|endoftext|>");
  if (!out.eos_id && !checkpoint.config.eos_ids.empty()) {
    out.eos_id = checkpoint.config.eos_ids.front();
  }
  const auto chat_template = chat_template_of(checkpoint);
  if (!chat_template.ok()) {
    if (chat_template.error().code != ErrorCode::kNotFound) return chat_template.error();
    out.notes.push_back(chat_template.error().message);
    return out;
  }
  out.chat_template = chat_template.value().source();
  if (chat_template.value().has_tool_use()) {
    out.notes.push_back("the chat template for tools is left out: a GGUF file has one template");
  }
  return out;
}

}  // namespace lockstep
