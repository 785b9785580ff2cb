#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <cmath>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace lockstep {
namespace {

constexpr size_t kMaxDepth = 64;

// Follows a parse and fails on a key that its object already has: two readings of one file.
struct DuplicateKeyFinder {
  static constexpr size_t max_object_size = static_cast<size_t>(-1);
  static constexpr size_t max_array_size = static_cast<size_t>(-1);
  static constexpr size_t max_key_size = static_cast<size_t>(-1);
  static constexpr size_t max_string_size = static_cast<size_t>(-1);
  using Text = json::string_view;
  using Code = json::error_code;

  std::vector<std::unordered_set<std::string>> open_objects;
  std::string key;
  std::string duplicate;

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code&) { return true; }
  bool on_object_begin(Code&) { return open_objects.emplace_back(), true; }
  bool on_object_end(size_t, Code&) { return open_objects.pop_back(), true; }
  bool on_array_begin(Code&) { return true; }
  bool on_array_end(size_t, Code&) { return true; }
  bool on_key_part(Text part, size_t, Code&) { return key.append(part.data(), part.size()), true; }
  bool on_key(Text part, size_t, Code& code) {
    key.append(part.data(), part.size());
    if (!open_objects.back().insert(key).second) {
      duplicate = key;
      code = json::error::extra_data;
      return false;
    }
    key.clear();
    return true;
  }
  bool on_string_part(Text, size_t, Code&) { return true; }
  bool on_string(Text, size_t, Code&) { return true; }
  bool on_number_part(Text, Code&) { return true; }
  bool on_int64(int64_t, Text, Code&) { return true; }
  bool on_uint64(uint64_t, Text, Code&) { return true; }
  bool on_double(double, Text, Code&) { return true; }
  bool on_bool(bool, Code&) { return true; }
  bool on_null(Code&) { return true; }
  bool on_comment_part(Text, Code&) { return true; }
  bool on_comment(Text, Code&) { return true; }
};

bool all_finite(const json::value& value) {
  switch (value.kind()) {
    case json::kind::double_:
      return std::isfinite(value.get_double());
    case json::kind::array:
      return std::all_of(value.get_array().begin(), value.get_array().end(), all_finite);
    case json::kind::object:
      return std::all_of(value.get_object().begin(), value.get_object().end(),
                         [](const auto& item) { return all_finite(item.value()); });
    default:
      return true;
  }
}

void dump(const json::value& value, int indent, int level, std::string& out);

void begin_line(int indent, int level, std::string& out) {
  if (indent == 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent * level), ' ');
}

template <typename Items, typename WriteItem>
void dump_items(const Items& items, char open, char close, int indent, int level, std::string& out,
                const WriteItem& write_item) {
  out += open;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += indent == 0 ? ", " : ",";
    first = false;
    begin_line(indent, level + 1, out);
    write_item(item);
  }
  if (!items.empty()) begin_line(indent, level, out);
  out += close;
}

void dump(const json::value& value, int indent, int level, std::string& out) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      return;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      return;
    case json::kind::int64:
      out += std::to_string(value.get_int64());
      return;
    case json::kind::uint64:
      out += std::to_string(value.get_uint64());
      return;
    case json::kind::double_: {
      const double number = value.get_double();
      if (std::isnan(number)) {
        out += "NaN";
      } else if (std::isinf(number)) {
        out += number > 0 ? "Infinity" : "-Infinity";
      } else {
        out += format_double(number);
      }
      return;
    }
    case json::kind::string:
      out += quote_json(value.get_string());
      return;
    case json::kind::array:
      dump_items(value.get_array(), '[', ']', indent, level, out,
                 [&](const json::value& item) { dump(item, indent, level + 1, out); });
      return;
    case json::kind::object:
      dump_items(value.get_object(), '{', '}', indent, level, out,
                 [&](const json::key_value_pair& item) {
                   out += quote_json(item.key());
                   out += ": ";
                   dump(item.value(), indent, level + 1, out);
                 });
      return;
  }
}

}  // namespace

Result<json::value> parse_json(std::string_view text, std::string_view what) {
  const auto fail = [&](const std::string& fault) {
    return Error{ErrorCode::kBadFile, fmt::format("{}: not valid JSON: {}", what, fault)};
  };
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::basic_parser<DuplicateKeyFinder> keys(options);
  json::error_code code;
  const size_t read = keys.write_some(false, text.data(), text.size(), code);
  if (!keys.handler().duplicate.empty() && code) {
    return fail(
        fmt::format("the key {} occurs twice in one object", quote_json(keys.handler().duplicate)));
  }
  if (code) return fail(fmt::format("{} at byte {}", code.message(), read));
  json::value value = json::parse(json::string_view(text.data(), text.size()), code, {}, options);
  if (code) return fail(code.message());
  if (!all_finite(value)) return fail("a number is too large for a double");
  return value;
}

std::string quote_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
  return out;
}

std::string format_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string dump_json(const json::value& value, int indent) {
  std::string out;
  dump(value, indent, 0, out);
  return out;
}

}  // namespace lockstep
