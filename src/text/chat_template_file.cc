// Finds the chat template of a checkpoint's folder.
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "text/chat_template.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxBytes = uintmax_t{64} << 20;
constexpr const char* kConfigName = "tokenizer_config.json";

// None where there is no such file.
Result<std::optional<std::string>> read_if_present(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) return std::optional<std::string>();
  const auto fail = [&](ErrorCode kind, const std::string& fault) {
    return Error{kind, fmt::format("{}: {}", path.string(), fault)};
  };
  if (!fs::is_regular_file(status)) return fail(ErrorCode::kBadFile, "this is not a file");
  const uintmax_t size = fs::file_size(path, code);
  if (code) return fail(ErrorCode::kIo, code.message());
  if (size > kMaxBytes) {
    return fail(ErrorCode::kBadFile,
                fmt::format("{} bytes are too many, at most {} are read", size, kMaxBytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return fail(ErrorCode::kIo, "the file cannot be read");
  return std::optional<std::string>(std::move(text));
}

// An absent file is an empty object.
Result<json::object> read_object(const fs::path& path) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto text, read_if_present(path));
  if (!text) return json::object();
  LOCKSTEP_ASSIGN_OR_RETURN(auto value, parse_json(*text, path.string()));
  if (!value.is_object()) {
    return Error{ErrorCode::kBadFile, path.string() + ": expected a JSON object"};
  }
  return std::move(value.get_object());
}

// Tokens are texts, or objects that hold the text as "content".
SpecialTokens special_tokens(const json::object& config) {
  SpecialTokens tokens;
  for (const char* name : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                           "cls_token", "mask_token"}) {
    const json::value* value = config.if_contains(name);
    if (value != nullptr && value->is_object()) value = value->get_object().if_contains("content");
    if (value != nullptr && value->is_string()) tokens.emplace_back(name, value->get_string());
  }
  return tokens;
}

// The entry of a list of {"name": ..., "template": ...}.
const json::string* find_named(const json::array& templates, std::string_view name) {
  for (const json::value& entry : templates) {
    if (!entry.is_object()) continue;
    const json::value* entry_name = entry.get_object().if_contains("name");
    const json::value* text = entry.get_object().if_contains("template");
    if (entry_name != nullptr && entry_name->is_string() && entry_name->get_string() == name &&
        text != nullptr && text->is_string()) {
      return &text->get_string();
    }
  }
  return nullptr;
}

Result<ChatTemplate> parse_named(const json::array& templates, const std::string& where) {
  const json::string* main = find_named(templates, "default");
  const json::string* tool_use = find_named(templates, "tool_use");
  if (main == nullptr) {
    return Error{ErrorCode::kBadFile,
                 where + ": of the named chat templates none is called 'default'"};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(auto parsed,
                            parse_chat_template(std::string(*main), where + " (default)"));
  if (tool_use != nullptr) {
    LOCKSTEP_ASSIGN_OR_RETURN(auto with_tools, jinja::Template::parse(std::string_view(*tool_use),
                                                                      where + " (tool_use)"));
    parsed.set_tool_use(std::move(with_tools));
  }
  return parsed;
}

Result<ChatTemplate> parse_entry(const json::value& entry, const std::string& where) {
  if (entry.is_string()) return parse_chat_template(std::string(entry.get_string()), where);
  if (entry.is_array()) return parse_named(entry.get_array(), where);
  return Error{ErrorCode::kBadFile,
               where + ": chat_template must be a text or a list of named templates"};
}

Result<ChatTemplate> find_template(const fs::path& folder, const json::object& config) {
  const fs::path jinja_path = folder / "chat_template.jinja";
  LOCKSTEP_ASSIGN_OR_RETURN(auto source, read_if_present(jinja_path));
  if (source) return parse_chat_template(*std::move(source), jinja_path.string());
  const auto present = [](const json::object& object) {
    const json::value* entry = object.if_contains("chat_template");
    return entry != nullptr && !entry->is_null() ? entry : nullptr;
  };
  if (const json::value* entry = present(config)) {
    return parse_entry(*entry, (folder / kConfigName).string());
  }
  const fs::path json_path = folder / "chat_template.json";
  LOCKSTEP_ASSIGN_OR_RETURN(const auto object, read_object(json_path));
  if (const json::value* entry = present(object)) return parse_entry(*entry, json_path.string());
  return Error{ErrorCode::kNotFound,
               fmt::format("{}: no chat template: neither chat_template.jinja nor a chat_template "
                           "in {} or chat_template.json",
                           folder.string(), kConfigName)};
}

}  // namespace

Result<ChatTemplate> load_chat_template(const fs::path& folder) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto config, read_object(folder / kConfigName));
  LOCKSTEP_ASSIGN_OR_RETURN(auto found, find_template(folder, config));
  found.set_special_tokens(special_tokens(config));
  return found;
}

}  // namespace lockstep
