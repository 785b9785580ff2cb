#include "text/reply/tool_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "text/reply/tag_match.h"

namespace lockstep {
namespace {

constexpr int kMostBranches = 8;  // anyOf inside anyOf

Error bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

void add_type(const json::value& name, ValueTypes& types) {
  if (!name.is_string()) return;
  const std::string_view text = name.get_string();
  types.string |= text == "string";
  types.integer |= text == "integer";
  types.number |= text == "number";
  types.boolean |= text == "boolean";
  types.object |= text == "object";
  types.array |= text == "array";
  types.null |= text == "null";
}

void add_types(const json::value& schema, int depth, ValueTypes& types) {
  const json::object* object = schema.if_object();
  if (object == nullptr || depth > kMostBranches) return;
  if (const json::value* type = object->if_contains("type")) {
    add_type(*type, types);
    if (const json::array* several = type->if_array()) {
      for (const json::value& one : *several) add_type(one, types);
    }
  }
  for (const char* key : {"anyOf", "oneOf"}) {
    const json::value* branches = object->if_contains(key);
    if (branches == nullptr || !branches->is_array()) continue;
    for (const json::value& branch : branches->get_array()) add_types(branch, depth + 1, types);
  }
}

Status add_tool(const json::value& tool, size_t index, ToolSignatures& tools) {
  const json::object* object = tool.if_object();
  const json::value* function = object == nullptr ? nullptr : object->if_contains("function");
  if (function == nullptr || !function->is_object()) {
    return bad(
        fmt::format("tools[{}] has no \"function\" object; tools are "
                    "{{\"type\": \"function\", \"function\": {{\"name\": ...}}}}",
                    index));
  }
  const json::value* name = function->get_object().if_contains("name");
  if (name == nullptr || !name->is_string() || name->get_string().empty()) {
    return bad(fmt::format("tools[{}].function has no name", index));
  }
  ToolParameters parameters;
  const json::value* schema = function->get_object().if_contains("parameters");
  const json::value* properties = schema != nullptr && schema->is_object()
                                      ? schema->get_object().if_contains("properties")
                                      : nullptr;
  if (properties != nullptr && properties->is_object()) {
    for (const auto& [key, value] : properties->get_object()) {
      add_types(value, 0, parameters[std::string(key)]);
    }
  }
  if (!tools.emplace(name->get_string(), std::move(parameters)).second) {
    return bad(fmt::format("two tools have the name {}", quote_json(name->get_string())));
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool equals_in_any_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(
      text, lower, [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

// The integer that a JSON number is, in digits: "5" of 5 and of 5.0; empty if it is none.
std::string_view integer_digits(std::string_view number) {
  const size_t point = number.find('.');
  const std::string_view digits = number.substr(0, point);
  if (digits.find_first_of("eE") != std::string_view::npos) return {};
  if (point == std::string_view::npos) return digits;
  const std::string_view rest = number.substr(point + 1);
  return rest.find_first_not_of('0') == std::string_view::npos ? digits : std::string_view();
}

}  // namespace

Result<ToolSignatures> read_tools(const json::array& tools) {
  ToolSignatures signatures;
  for (size_t i = 0; i < tools.size(); ++i) {
    LOCKSTEP_RETURN_IF_ERROR(add_tool(tools[i], i, signatures));
  }
  return signatures;
}

std::string to_json_value(std::string_view text, const ValueTypes& types) {
  const std::string_view word = trimmed(text);
  if (types.any_but_string()) {
    if (equals_in_any_case(word, "null") && (types.null || !types.string)) return "null";
    if (types.boolean && equals_in_any_case(word, "true")) return "true";
    if (types.boolean && equals_in_any_case(word, "false")) return "false";
    const auto parsed = parse_json(word, "value");
    if (parsed.ok()) {
      const json::value& value = parsed.value();
      if (value.is_number() && types.integer && !integer_digits(word).empty()) {
        return std::string(integer_digits(word));
      }
      if (value.is_number() && types.number) return std::string(word);
      if (value.is_object() && types.object) return dump_json(value);
      if (value.is_array() && types.array) return dump_json(value);
    }
  }
  return quote_json(text);
}

}  // namespace lockstep
