// Filters that turn their input into text.
#include <fmt/format.h>

#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/fault.h"
#include "text/jinja/filters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/percent_format.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_tools.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

// Calls the str method of that name on the input's text.
Value through_method(Runtime& runtime, const char* name, const Value& input,
                     const Arguments& arguments) {
  return find_text_method(name)->call(runtime, as_text(runtime, input), arguments);
}

Value upper(Runtime& rt, const Value& input, const Arguments& arguments) {
  return through_method(rt, "upper", input, arguments);
}
Value lower(Runtime& rt, const Value& input, const Arguments& arguments) {
  return through_method(rt, "lower", input, arguments);
}
Value capitalize(Runtime& rt, const Value& input, const Arguments& arguments) {
  return through_method(rt, "capitalize", input, arguments);
}

Value trim(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("trim", arguments, {"chars"});
  Arguments positional;
  if (args.find(0) != nullptr) positional.positional.push_back(args.at(0));
  return through_method(runtime, "strip", input, positional);
}

Value center(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("center", arguments, {"width"});
  Arguments positional;
  positional.positional.push_back(Value::integer(args.integer_or(0, 80)));
  return through_method(runtime, "center", input, positional);
}

Value replace(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("replace", arguments, {"old", "new", "count"}, 2);
  const int64_t most = args.is_none(2) ? -1 : args.integer(2);
  return make_text(runtime,
                   replace_all(runtime, to_text(runtime, input), to_text(runtime, args.at(0)),
                               to_text(runtime, args.at(1)), most));
}

bool ends_word(char32_t code) {
  return is_space(code) || code == '-' || code == '(' || code == '{' || code == '[' || code == '<';
}

// Unlike str.title(): words begin after space, hyphen and opening brackets only.
Value title(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("title", arguments, {});
  const Value text = as_text(runtime, input);
  const std::string_view bytes = text.text();
  runtime.work(3 * bytes.size());
  std::string out;
  for (size_t i = 0; i < bytes.size();) {
    const size_t start = i;
    const bool separator = ends_word(next_code_point(bytes, i));
    const size_t second = i;
    for (size_t next = i; i < bytes.size(); i = next) {
      if (ends_word(next_code_point(bytes, next)) != separator) break;
    }
    out += to_upper(bytes.substr(start, second - start));
    out += to_lower(bytes.substr(second, i - second));
  }
  return make_text(runtime, std::move(out));
}

Value string(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("string", arguments, {});
  return as_text(runtime, input);
}

Value safe(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("safe", arguments, {});
  if (input.is_safe_text()) return input;
  return make_text(runtime, to_text(runtime, input), true);
}

Value force_escape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("forceescape", arguments, {});
  const std::string text = to_text(runtime, input);
  runtime.work(5 * text.size());
  return make_text(runtime, escape_html(text), true);
}

Value escape(Runtime& runtime, const Value& input, const Arguments& arguments) {
  return input.is_safe_text() ? input : force_escape(runtime, input, arguments);
}

Value format(Runtime& runtime, const Value& input, const Arguments& arguments) {
  if (!arguments.keyword.empty() && !arguments.positional.empty()) {
    fail("format takes values by position or by name, not both");
  }
  MappingItems named;
  for (const auto& [name, value] : arguments.keyword) {
    named.emplace_back(make_text(runtime, name), value);
  }
  const Value values =
      named.empty() ? make_tuple(runtime, arguments.positional) : make_mapping(runtime, named);
  return format_percent(runtime, as_text(runtime, input), values);
}

Value indent(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("indent", arguments, {"width", "first", "blank"});
  require_defined(input);
  if (!input.is(Kind::kText))
    fail(fmt::format("indent: expected text, got '{}'", type_name(input)));
  std::string margin;
  if (args.find(0) != nullptr && args.at(0).is(Kind::kText)) {
    margin = args.text(0);
  } else {
    const int64_t width = std::max<int64_t>(args.integer_or(0, 4), 0);
    runtime.work(static_cast<size_t>(width));
    margin = std::string(static_cast<size_t>(width), ' ');
  }
  const bool blank = args.truth_or(2, false);
  const std::string text = std::string(input.text()) + "\n";
  std::string out = args.truth_or(1, false) ? margin : "";
  bool first = true;
  for (const std::string_view line : split_lines(text, false)) {
    runtime.work(line.size() + margin.size() + 1);
    if (!first) {
      out += '\n';
      if (blank || !line.empty()) out += margin;
    }
    out += line;
    first = false;
  }
  return make_text(runtime, std::move(out), input.is_safe_text());
}

std::string_view first_points(std::string_view text, int64_t count) {
  if (count < 0)
    count = std::max<int64_t>(0, static_cast<int64_t>(count_code_points(text)) + count);
  return text.substr(0, byte_position(text, static_cast<size_t>(count)));
}

Value truncate(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("truncate", arguments, {"length", "killwords", "end", "leeway"});
  const int64_t length = args.integer_or(0, 255);
  const std::string_view end = args.text_or(2, "...");
  const int64_t leeway = args.is_none(3) ? 5 : args.integer(3);
  const auto end_length = static_cast<int64_t>(count_code_points(end));
  if (length < end_length) fail("truncate: the length must not be below the end's");
  if (leeway < 0) fail("truncate: the leeway must not be negative");
  const int64_t size = length_of(runtime, input);
  if (size < 0) fail(fmt::format("'{}' has no length", type_name(input)));
  if (size - leeway <= length) return input;
  if (!input.is(Kind::kText)) fail("truncate needs text");
  runtime.work(input.text().size());
  std::string_view kept = first_points(input.text(), length - end_length);
  if (!args.truth_or(1, false)) kept = kept.substr(0, kept.rfind(' '));
  return make_text(runtime, std::string(kept) + std::string(end));
}

Value wordcount(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("wordcount", arguments, {});
  const std::string text = to_text(runtime, input);
  int64_t count = 0;
  bool in_word = false;
  for (size_t i = 0; i < text.size();) {
    const size_t start = i;
    const bool word = next_code_point(text, i) == '_' ||
                      all_alphanumeric(std::string_view(text).substr(start, i - start));
    if (word && !in_word) ++count;
    in_word = word;
  }
  return Value::integer(count);
}

constexpr Method kTextFilters[] = {
    {"capitalize", capitalize},
    {"center", center},
    {"e", escape},
    {"escape", escape},
    {"forceescape", force_escape},
    {"format", format},
    {"indent", indent},
    {"lower", lower},
    {"replace", replace},
    {"safe", safe},
    {"string", string},
    {"title", title},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", upper},
    {"wordcount", wordcount},
};

}  // namespace

const Method* find_text_filter(std::string_view name) { return find_in_table(kTextFilters, name); }

}  // namespace lockstep::jinja
