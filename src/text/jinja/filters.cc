#include "text/jinja/filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/jinja/arguments.h"
#include "text/jinja/attributes.h"
#include "text/jinja/fault.h"
#include "text/jinja/iterate.h"
#include "text/jinja/json_text.h"
#include "text/jinja/operators.h"
#include "text/jinja/repr.h"

namespace lockstep::jinja {
namespace {

Value attr(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("attr", arguments, {"name"}, 1);
  require_defined(input);
  if (auto attribute = find_attribute(runtime, input, args.text(0))) return *std::move(attribute);
  return Value::undefined(
      fmt::format("'{}' has no attribute '{}'", type_name(input), args.text(0)));
}

Value default_value(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("default", arguments, {"default_value", "boolean"});
  const bool replace = input.is(Kind::kUndefined) || (args.truth_or(1, false) && !is_true(input));
  if (!replace) return input;
  return args.find(0) == nullptr ? make_text(runtime, "") : args.at(0);
}

Value length(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments none("length", arguments, {});
  const int64_t count = length_of(runtime, input);
  if (count < 0) fail(fmt::format("'{}' has no length", type_name(input)));
  return Value::integer(count);
}

JsonStyle json_style(Runtime& runtime, const BoundArguments& args) {
  JsonStyle style;
  style.ensure_ascii = args.truth_or(0, false);
  if (!args.is_none(1)) {
    if (args.at(1).is(Kind::kText)) {
      style.indent = args.text(1);
    } else {
      const int64_t width = std::max<int64_t>(args.integer(1), 0);
      runtime.work(static_cast<size_t>(width));
      style.indent = std::string(static_cast<size_t>(width), ' ');
    }
    style.item_separator = ",";
  }
  if (!args.is_none(2)) {
    const Items separators = collect(runtime, args.at(2));
    if (separators.size() != 2 || !separators[0].is(Kind::kText) ||
        !separators[1].is(Kind::kText)) {
      fail("tojson: separators must be two texts");
    }
    style.item_separator = separators[0].text();
    style.key_separator = separators[1].text();
  }
  style.sort_keys = args.truth_or(3, false);
  return style;
}

// As transformers overrides it: Python's json.dumps, nothing escaped for HTML.
Value tojson(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("tojson", arguments,
                            {"ensure_ascii", "indent", "separators", "sort_keys"});
  return make_text(runtime, to_json(runtime, input, json_style(runtime, args)));
}

constexpr Method kFilters[] = {
    {"attr", attr},     {"count", length},  {"d", default_value}, {"default", default_value},
    {"length", length}, {"tojson", tojson},
};

// What Jinja has besides and chat templates do not use.
constexpr std::string_view kUnsupported[] = {
    "filesizeformat", "groupby", "pprint",   "random",  "striptags",
    "urlencode",      "urlize",  "wordwrap", "xmlattr",
};

}  // namespace

const Method* find_filter(std::string_view name) {
  if (const Method* filter = find_in_table(kFilters, name)) return filter;
  if (const Method* filter = find_text_filter(name)) return filter;
  if (const Method* filter = find_number_filter(name)) return filter;
  if (const Method* filter = find_selection_filter(name)) return filter;
  return find_sequence_filter(name);
}

std::string unknown_filter(std::string_view name) {
  const bool known =
      std::find(std::begin(kUnsupported), std::end(kUnsupported), name) != std::end(kUnsupported);
  return known ? fmt::format("the filter '{}' is not supported", name)
               : fmt::format("there is no filter '{}'", name);
}

}  // namespace lockstep::jinja
