#include "text/jinja/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "text/jinja/fault.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

std::string ascii_only(std::string_view quoted) {
  std::string out;
  for (size_t i = 0; i < quoted.size();) {
    const char32_t code = next_code_point(quoted, i);
    if (code < 0x80 && code != 0x7F) {
      out += static_cast<char>(code);
    } else if (code == 0x7F) {
      out += '\x7F';
    } else if (code < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(code));
    } else {
      const auto rest = static_cast<uint32_t>(code) - 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    }
  }
  return out;
}

class Writer {
 public:
  Writer(Runtime& runtime, const JsonStyle& style) : runtime_(runtime), style_(style) {}

  void write(const Value& value) {
    const DepthGuard guard(runtime_);
    runtime_.step();
    switch (value.kind()) {
      case Kind::kText:
        write_text(value.text());
        return;
      case Kind::kList:
      case Kind::kTuple:
        return write_list(value.items());
      case Kind::kMapping:
        return write_mapping(value.as<Mapping>());
      default:
        out_ += scalar(value);
    }
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string scalar(const Value& value) {
    switch (value.kind()) {
      case Kind::kNone:
        return "null";
      case Kind::kBool:
        return value.as_bool() ? "true" : "false";
      case Kind::kInteger:
        return std::to_string(value.as_integer());
      case Kind::kFloat:
        return json_number(value.as_double());
      default:
        fail(fmt::format("tojson cannot write a value of type '{}'", type_name(value)));
    }
  }

  static std::string json_number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return format_double(value);
  }

  void write_text(std::string_view text) {
    runtime_.work(2 * text.size());
    const std::string quoted = quote_json(text);
    out_ += style_.ensure_ascii ? ascii_only(quoted) : quoted;
  }

  void begin_line() {
    if (!style_.indent) return;
    runtime_.work(style_.indent->size() * static_cast<size_t>(level_));
    out_ += '\n';
    for (int i = 0; i < level_; ++i) out_ += *style_.indent;
  }

  template <typename List, typename WriteItem>
  void write_items(char open, char close, const List& items, const WriteItem& write_item) {
    out_ += open;
    if (!items.empty()) {
      ++level_;
      bool first = true;
      for (const auto& item : items) {
        runtime_.work(style_.item_separator.size() + style_.key_separator.size());
        if (!first) out_ += style_.item_separator;
        first = false;
        begin_line();
        write_item(item);
      }
      --level_;
      begin_line();
    }
    out_ += close;
  }

  void write_list(const Items& items) {
    write_items('[', ']', items, [this](const Value& item) { write(item); });
  }

  void write_mapping(const Mapping& mapping) {
    const auto write_pair = [this](const std::pair<Value, Value>& item) {
      const Value& key = item.first;
      write_text(key.is(Kind::kText) ? std::string(key.text()) : scalar(key));
      out_ += style_.key_separator;
      write(item.second);
    };
    if (!style_.sort_keys) return write_items('{', '}', mapping.items, write_pair);
    MappingItems sorted = mapping.items;
    std::stable_sort(sorted.begin(), sorted.end(), [this](const auto& a, const auto& b) {
      return less(runtime_, a.first, b.first);
    });
    write_items('{', '}', sorted, write_pair);
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  int level_ = 0;
  std::string out_;
};

}  // namespace

std::string to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  Writer writer(runtime, style);
  writer.write(value);
  return writer.take();
}

}  // namespace lockstep::jinja
