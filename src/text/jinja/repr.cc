#include "text/jinja/repr.h"

#include <fmt/format.h>

#include "base/json.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

void append_items(Runtime& runtime, const Items& items, std::string& out) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    append_repr(runtime, items[i], out);
  }
}

void append_mapping(Runtime& runtime, const Mapping& mapping, std::string& out) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : mapping.items) {
    if (!first) out += ", ";
    first = false;
    append_repr(runtime, key, out);
    out += ": ";
    append_repr(runtime, value, out);
  }
  out += '}';
}

void append_view(Runtime& runtime, const View& view, std::string& out) {
  static constexpr const char* kNames[] = {"dict_keys([", "dict_values([", "dict_items(["};
  out += kNames[static_cast<int>(view.what)];
  for (size_t i = 0; i < view.mapping.as<Mapping>().items.size(); ++i) {
    if (i > 0) out += ", ";
    const auto& [key, value] = view.mapping.as<Mapping>().items[i];
    if (view.what == View::What::kItems) out += '(';
    if (view.what != View::What::kValues) append_repr(runtime, key, out);
    if (view.what == View::What::kItems) out += ", ";
    if (view.what != View::What::kKeys) append_repr(runtime, value, out);
    if (view.what == View::What::kItems) out += ')';
  }
  out += "])";
}

void append_namespace(Runtime& runtime, const Namespace& space, std::string& out) {
  out += "<Namespace {";
  for (size_t i = 0; i < space.attributes.size(); ++i) {
    if (i > 0) out += ", ";
    out += quote_python(space.attributes[i].first) + ": ";
    append_repr(runtime, space.attributes[i].second, out);
  }
  out += "}>";
}

std::string range_repr(const Range& range) {
  if (range.step == 1) return fmt::format("range({}, {})", range.start, range.stop);
  return fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
}

void append_escape(char32_t code, std::string& out) {
  const auto number = static_cast<uint32_t>(code);
  if (code == '\n') {
    out += "\\n";
  } else if (code == '\r') {
    out += "\\r";
  } else if (code == '\t') {
    out += "\\t";
  } else if (code < 0x100) {
    out += fmt::format("\\x{:02x}", number);
  } else if (code < 0x10000) {
    out += fmt::format("\\u{:04x}", number);
  } else {
    out += fmt::format("\\U{:08x}", number);
  }
}

}  // namespace

std::string quote_python(std::string_view text) {
  const bool double_quotes =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  std::string out(1, quote);
  for (size_t i = 0; i < text.size();) {
    const char32_t code = next_code_point(text, i);
    if (code == static_cast<char32_t>(quote) || code == '\\') {
      out += '\\';
      out += static_cast<char>(code);
    } else if (is_printable(code)) {
      append_utf8(code, out);
    } else {
      append_escape(code, out);
    }
  }
  out += quote;
  return out;
}

void append_repr(Runtime& runtime, const Value& value, std::string& out) {
  const DepthGuard guard(runtime);
  runtime.step();
  switch (value.kind()) {
    case Kind::kUndefined:
      out += "Undefined";
      return;
    case Kind::kNone:
      out += "None";
      return;
    case Kind::kBool:
      out += value.as_bool() ? "True" : "False";
      return;
    case Kind::kInteger:
      out += std::to_string(value.as_integer());
      return;
    case Kind::kFloat:
      out += format_double(value.as_double());
      return;
    case Kind::kText:
      runtime.work(8 * value.text().size());  // looked at one by one
      out += value.is_safe_text() ? "Markup(" + quote_python(value.text()) + ")"
                                  : quote_python(value.text());
      return;
    case Kind::kList:
      out += '[';
      append_items(runtime, value.items(), out);
      out += ']';
      return;
    case Kind::kTuple:
      out += '(';
      append_items(runtime, value.items(), out);
      out += value.items().size() == 1 ? ",)" : ")";
      return;
    case Kind::kMapping:
      return append_mapping(runtime, value.as<Mapping>(), out);
    case Kind::kRange:
      out += range_repr(value.as<Range>());
      return;
    case Kind::kView:
      return append_view(runtime, value.as<View>(), out);
    case Kind::kNamespace:
      return append_namespace(runtime, value.as<Namespace>(), out);
    case Kind::kCallable:
      out += "<function " + value.as<Callable>().name + ">";
      return;
    case Kind::kLoop:
      out += "<LoopContext>";
      return;
    case Kind::kIterator:
      out += "<generator object>";
      return;
  }
}

std::string to_text(Runtime& runtime, const Value& value) {
  if (value.is(Kind::kUndefined)) return "";
  if (value.is(Kind::kText)) {
    runtime.work(value.text().size());
    return std::string(value.text());
  }
  std::string out;
  append_repr(runtime, value, out);
  return out;
}

Value as_text(Runtime& runtime, const Value& value) {
  return value.is(Kind::kText) ? value : make_text(runtime, to_text(runtime, value));
}

}  // namespace lockstep::jinja
