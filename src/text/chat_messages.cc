#include "text/chat_messages.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "text/reply/tag_match.h"

namespace lockstep {
namespace {

Error bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Result<std::string> role_of(const json::object& message, size_t index) {
  const json::value* role = message.if_contains("role");
  if (role == nullptr || !role->is_string()) {
    return bad(fmt::format("messages[{}] has no role", index));
  }
  const std::string_view name = role->get_string();
  if (name == "developer") return std::string("system");
  if (name == "function") return std::string("tool");
  for (const std::string_view known : {"system", "user", "assistant", "tool"}) {
    if (name == known) return std::string(name);
  }
  return bad(fmt::format(
      "messages[{}].role is {}; system, developer, user, assistant, tool and function are known",
      index, quote_json(name)));
}

Result<std::string> part_text(const json::value& part, const std::string& where) {
  const json::object* object = part.if_object();
  const json::value* type = object == nullptr ? nullptr : object->if_contains("type");
  if (type == nullptr || !type->is_string()) return bad(fmt::format("{} has no type", where));
  if (type->get_string() != "text") {
    return bad(fmt::format("{} is of type {}; only text is read by this server", where,
                           quote_json(type->get_string())));
  }
  const json::value* text = object->if_contains("text");
  if (text == nullptr || !text->is_string()) return bad(fmt::format("{} has no text", where));
  return std::string(text->get_string());
}

Result<std::string> content_text(const json::object& message, size_t index) {
  const json::value* content = message.if_contains("content");
  if (content == nullptr || content->is_null()) return std::string();
  if (content->is_string()) return std::string(content->get_string());
  const std::string where = fmt::format("messages[{}].content", index);
  if (!content->is_array()) return bad(where + " is neither text nor a list of parts");
  std::string text;
  for (size_t i = 0; i < content->get_array().size(); ++i) {
    LOCKSTEP_ASSIGN_OR_RETURN(const std::string piece,
                              part_text(content->get_array()[i], fmt::format("{}[{}]", where, i)));
    text += piece;
  }
  return text;
}

json::object arguments_object(const json::value& arguments) {
  if (arguments.is_object()) return arguments.get_object();
  if (!arguments.is_string()) return {};
  const std::string_view text = arguments.get_string();
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) return {};
  auto parsed = parse_json(text, "arguments");
  if (parsed.ok() && parsed.value().is_object()) return parsed.value().get_object();
  return {{"arguments", text}};
}

void normalise_call(json::value& call) {
  json::object* object = call.if_object();
  json::value* function = object == nullptr ? nullptr : object->if_contains("function");
  json::object* fields = function == nullptr ? object : function->if_object();
  if (fields == nullptr) return;
  const json::value* arguments = fields->if_contains("arguments");
  (*fields)["arguments"] = arguments == nullptr ? json::object() : arguments_object(*arguments);
}

Status normalise_assistant(json::object& message, size_t index) {
  if (json::value* reasoning = message.if_contains("reasoning")) {
    json::value moved = std::move(*reasoning);
    message.erase("reasoning");
    const json::value* present = message.if_contains("reasoning_content");
    if (present == nullptr || !present->is_string())
      message["reasoning_content"] = std::move(moved);
  }
  if (json::value* call = message.if_contains("function_call")) {
    json::value moved = std::move(*call);
    message.erase("function_call");
    if (moved.is_object() && !message.contains("tool_calls")) {
      message["tool_calls"] =
          json::array{json::object{{"type", "function"}, {"function", std::move(moved)}}};
    }
  }
  json::value* calls = message.if_contains("tool_calls");
  if (calls == nullptr) return {};
  if (calls->is_null()) {
    message.erase("tool_calls");
    return {};
  }
  if (!calls->is_array()) return bad(fmt::format("messages[{}].tool_calls is no list", index));
  for (json::value& call : calls->get_array()) normalise_call(call);
  return {};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

}  // namespace

Result<json::array> normalise_messages(const json::array& messages) {
  std::string system;
  json::array turns;
  bool has_user = false;
  for (size_t i = 0; i < messages.size(); ++i) {
    const json::object* given = messages[i].if_object();
    if (given == nullptr) return bad(fmt::format("messages[{}] is no object", i));
    LOCKSTEP_ASSIGN_OR_RETURN(const std::string role, role_of(*given, i));
    LOCKSTEP_ASSIGN_OR_RETURN(const std::string content, content_text(*given, i));
    if (role == "system") {
      if (is_blank(content)) continue;
      system += (system.empty() ? "" : "\n\n") + content;
      continue;
    }
    json::object message = *given;
    message["role"] = role;
    message["content"] = content;
    if (role == "assistant") LOCKSTEP_RETURN_IF_ERROR(normalise_assistant(message, i));
    has_user |= role == "user";
    turns.push_back(std::move(message));
  }
  json::array result;
  if (!system.empty()) result.push_back(json::object{{"role", "system"}, {"content", system}});
  if (!has_user) result.push_back(json::object{{"role", "user"}, {"content", ""}});
  for (json::value& turn : turns) result.push_back(std::move(turn));
  return result;
}

}  // namespace lockstep
