// Python's str methods. Positions and widths count code points.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "text/jinja/arguments.h"
#include "text/jinja/fault.h"
#include "text/jinja/iterate.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/percent_format.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_tools.h"
#include "text/jinja/unicode.h"

namespace lockstep::jinja {
namespace {

// The result of a method on text keeps the mark "safe", and what a caller adds is then escaped.
Value like(Runtime& runtime, const Value& self, std::string text) {
  return make_text(runtime, std::move(text), self.is_safe_text());
}

std::string added(const Value& self, std::string_view argument) {
  return self.is_safe_text() ? escape_html(argument) : std::string(argument);
}

template <typename Convert>
Value converted(Runtime& runtime, const char* name, const Value& self, const Arguments& arguments,
                const Convert& convert) {
  const BoundArguments none(name, arguments, {});
  runtime.work(3 * self.text().size());  // one code point may become three
  return like(runtime, self, convert(self.text()));
}

Value upper(Runtime& rt, const Value& self, const Arguments& arguments) {
  return converted(rt, "upper", self, arguments, to_upper);
}
Value lower(Runtime& rt, const Value& self, const Arguments& arguments) {
  return converted(rt, "lower", self, arguments, to_lower);
}
Value title(Runtime& rt, const Value& self, const Arguments& arguments) {
  return converted(rt, "title", self, arguments, title_case);
}
Value capitalize(Runtime& rt, const Value& self, const Arguments& arguments) {
  return converted(rt, "capitalize", self, arguments, capitalized);
}
Value swapcase(Runtime& rt, const Value& self, const Arguments& arguments) {
  return converted(rt, "swapcase", self, arguments, swap_case);
}

Value strip_sides(Runtime& runtime, const char* name, const Value& self, const Arguments& arguments,
                  bool left, bool right) {
  const BoundArguments args(name, arguments, {""});
  std::string_view text = self.text();
  if (args.is_none(0)) {
    if (left) text = strip_left(text);
    if (right) text = strip_right(text);
  } else {
    const std::string set = added(self, args.text(0));
    runtime.work(set.size());
    text = strip_characters(runtime, text, set, left, right);
  }
  if (text.size() == self.text().size()) return self;
  return like(runtime, self, std::string(text));
}

Value strip(Runtime& rt, const Value& self, const Arguments& arguments) {
  return strip_sides(rt, "strip", self, arguments, true, true);
}
Value lstrip(Runtime& rt, const Value& self, const Arguments& arguments) {
  return strip_sides(rt, "lstrip", self, arguments, true, false);
}
Value rstrip(Runtime& rt, const Value& self, const Arguments& arguments) {
  return strip_sides(rt, "rstrip", self, arguments, false, true);
}

Value pieces(Runtime& runtime, const Value& self, const std::vector<std::string_view>& parts) {
  Items items;
  for (const std::string_view part : parts) items.push_back(like(runtime, self, std::string(part)));
  return make_list(runtime, std::move(items));
}

Value split_text(Runtime& runtime, const char* name, const Value& self, const Arguments& arguments,
                 bool from_right) {
  const BoundArguments args(name, arguments, {"sep", "maxsplit"});
  const int64_t most = args.integer_or(1, -1);
  runtime.work(8 * self.text().size());  // the list of pieces may outweigh the text
  if (args.is_none(0)) return pieces(runtime, self, split_on_space(self.text(), most, from_right));
  if (args.text(0).empty()) fail(fmt::format("{}: the separator is empty", name));
  return pieces(runtime, self, split_on(self.text(), args.text(0), most, from_right));
}

Value split(Runtime& rt, const Value& self, const Arguments& arguments) {
  return split_text(rt, "split", self, arguments, false);
}
Value rsplit(Runtime& rt, const Value& self, const Arguments& arguments) {
  return split_text(rt, "rsplit", self, arguments, true);
}

Value splitlines(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("splitlines", arguments, {"keepends"});
  runtime.work(self.text().size());
  return pieces(runtime, self, split_lines(self.text(), args.truth_or(0, false)));
}

Value partition_at(Runtime& runtime, const Value& self, const BoundArguments& args, size_t at,
                   bool missing_goes_last) {
  const std::string_view text = self.text();
  const std::string_view separator = args.text(0);
  std::string before, middle, after;
  if (at != std::string_view::npos) {
    before = text.substr(0, at);
    middle = separator;
    after = text.substr(at + separator.size());
  } else {
    (missing_goes_last ? after : before) = text;
  }
  return make_tuple(runtime, {like(runtime, self, before), like(runtime, self, middle),
                              like(runtime, self, after)});
}

Value partition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("partition", arguments, {""}, 1);
  if (args.text(0).empty()) fail("partition: the separator is empty");
  return partition_at(runtime, self, args, self.text().find(args.text(0)), false);
}
Value rpartition(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("rpartition", arguments, {""}, 1);
  if (args.text(0).empty()) fail("rpartition: the separator is empty");
  return partition_at(runtime, self, args, self.text().rfind(args.text(0)), true);
}

// The part of the text that start and end arguments name, and where it begins.
struct Window {
  std::string_view text;
  int64_t start = 0;   // in code points
  bool valid = false;  // false where start lies behind the end
};

Window window(Runtime& runtime, const Value& self, const BoundArguments& args) {
  const auto length = static_cast<int64_t>(self.text_length());
  const auto position = [&](size_t index, int64_t fallback) {
    if (args.is_none(index)) return fallback;
    const int64_t given = args.integer(index);
    return given < 0 ? std::max<int64_t>(given + length, 0) : given;
  };
  runtime.work(self.text().size());
  Window result;
  result.start = position(1, 0);
  const int64_t end = std::min(position(2, length), length);
  result.valid = result.start <= end;
  if (!result.valid) return result;
  const size_t first = byte_position(self.text(), static_cast<size_t>(result.start));
  result.text = self.text().substr(first);
  result.text =
      result.text.substr(0, byte_position(result.text, static_cast<size_t>(end - result.start)));
  return result;
}

Value has_affix(Runtime& runtime, const char* name, const Value& self, const Arguments& arguments,
                bool at_start) {
  const BoundArguments args(name, arguments, {"", "", ""}, 1);
  const bool whole = args.find(1) == nullptr && args.find(2) == nullptr;
  Window part;
  if (whole) {
    part = {self.text(), 0, true};
  } else {
    part = window(runtime, self, args);
  }
  const auto matches = [&](const Value& affix) {
    if (!affix.is(Kind::kText)) {
      require_defined(affix);
      fail(fmt::format("{}: expected str or a tuple of str, not {}", name, type_name(affix)));
    }
    runtime.step();
    runtime.work(std::min(affix.text().size(), part.text.size()));
    return part.valid &&
           (at_start ? part.text.starts_with(affix.text()) : part.text.ends_with(affix.text()));
  };
  if (!args.at(0).is(Kind::kTuple)) return Value::boolean(matches(args.at(0)));
  const Items& affixes = args.at(0).items();
  return Value::boolean(std::any_of(affixes.begin(), affixes.end(), matches));
}

Value startswith(Runtime& rt, const Value& self, const Arguments& arguments) {
  return has_affix(rt, "startswith", self, arguments, true);
}
Value endswith(Runtime& rt, const Value& self, const Arguments& arguments) {
  return has_affix(rt, "endswith", self, arguments, false);
}

int64_t find_in(Runtime& runtime, const char* name, const Value& self, const Arguments& arguments,
                bool from_right) {
  const BoundArguments args(name, arguments, {"", "", ""}, 1);
  const std::string_view part = args.text(0);
  const Window where = window(runtime, self, args);
  if (!where.valid) return -1;
  const size_t at = from_right ? where.text.rfind(part) : where.text.find(part);
  if (at == std::string_view::npos) return -1;
  return where.start + static_cast<int64_t>(count_code_points(where.text.substr(0, at)));
}

Value find(Runtime& rt, const Value& self, const Arguments& arguments) {
  return Value::integer(find_in(rt, "find", self, arguments, false));
}
Value rfind(Runtime& rt, const Value& self, const Arguments& arguments) {
  return Value::integer(find_in(rt, "rfind", self, arguments, true));
}
Value index(Runtime& rt, const Value& self, const Arguments& arguments) {
  const int64_t position = find_in(rt, "index", self, arguments, false);
  if (position < 0) fail("index: substring not found");
  return Value::integer(position);
}
Value rindex(Runtime& rt, const Value& self, const Arguments& arguments) {
  const int64_t position = find_in(rt, "rindex", self, arguments, true);
  if (position < 0) fail("rindex: substring not found");
  return Value::integer(position);
}

Value count(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("count", arguments, {"", "", ""}, 1);
  const std::string_view part = args.text(0);
  const Window where = window(runtime, self, args);
  if (!where.valid) return Value::integer(0);
  return Value::integer(static_cast<int64_t>(count_occurrences(where.text, part)));
}

Value replace(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("replace", arguments, {"", "", ""}, 2);
  return like(runtime, self,
              replace_all(runtime, self.text(), added(self, args.text(0)),
                          added(self, args.text(1)), args.integer_or(2, -1)));
}

Value join(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("join", arguments, {""}, 1);
  const auto iterator = iterate(runtime, args.at(0));
  std::string out;
  Value item;
  for (bool first = true; iterator->next(runtime, item); first = false) {
    if (!item.is(Kind::kText) && !self.is_safe_text()) {
      fail(fmt::format("join: expected str, found {}", type_name(item)));
    }
    const std::string part = to_text(runtime, item);
    runtime.work(part.size() + self.text().size());
    if (!first) out += self.text();
    out += item.is_safe_text() ? part : added(self, part);
  }
  return like(runtime, self, std::move(out));
}

Value removeprefix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("removeprefix", arguments, {""}, 1);
  const std::string prefix = added(self, args.text(0));
  if (!self.text().starts_with(prefix)) return self;
  return like(runtime, self, std::string(self.text().substr(prefix.size())));
}
Value removesuffix(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("removesuffix", arguments, {""}, 1);
  const std::string suffix = added(self, args.text(0));
  if (!self.text().ends_with(suffix)) return self;
  return like(runtime, self,
              std::string(self.text().substr(0, self.text().size() - suffix.size())));
}

Value justify(Runtime& runtime, const char* name, const Value& self, const Arguments& arguments,
              Side side) {
  const BoundArguments args(name, arguments, {"", ""}, 1);
  const std::string fill = added(self, args.text_or(1, " "));
  if (count_code_points(fill) != 1) fail(fmt::format("{}: the fill must be one character", name));
  return like(runtime, self,
              pad(runtime, self.text(), self.text_length(), args.integer(0), fill, side));
}

Value center(Runtime& rt, const Value& self, const Arguments& arguments) {
  return justify(rt, "center", self, arguments, Side::kBoth);
}
Value ljust(Runtime& rt, const Value& self, const Arguments& arguments) {
  return justify(rt, "ljust", self, arguments, Side::kRight);
}
Value rjust(Runtime& rt, const Value& self, const Arguments& arguments) {
  return justify(rt, "rjust", self, arguments, Side::kLeft);
}

Value zfill(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments args("zfill", arguments, {""}, 1);
  const bool sign = self.text().starts_with('-') || self.text().starts_with('+');
  const std::string_view digits = self.text().substr(sign ? 1 : 0);
  const size_t length = self.text_length() - (sign ? 1 : 0);
  const int64_t width = args.integer(0);
  const int64_t digits_width = sign && width > 0 ? width - 1 : width;
  std::string out(self.text().substr(0, sign ? 1 : 0));
  out += pad(runtime, digits, length, digits_width, "0", Side::kLeft);
  return like(runtime, self, std::move(out));
}

template <bool (*kTest)(std::string_view)>
Value test_text(Runtime& runtime, const Value& self, const Arguments& arguments) {
  const BoundArguments none("is...", arguments, {});
  runtime.work(self.text().size());
  return Value::boolean(kTest(self.text()));
}

Value format(Runtime& runtime, const Value& self, const Arguments& arguments) {
  return format_braces(runtime, self, arguments);
}

constexpr Method kTextMethods[] = {
    {"capitalize", capitalize},
    {"center", center},
    {"count", count},
    {"endswith", endswith},
    {"find", find},
    {"format", format},
    {"index", index},
    {"isalnum", test_text<all_alphanumeric>},
    {"isalpha", test_text<all_alphabetic>},
    {"isascii", test_text<all_ascii>},
    {"isdecimal", test_text<all_decimal>},
    {"isdigit", test_text<all_digits>},
    {"islower", test_text<is_lower_case>},
    {"isnumeric", test_text<all_numeric>},
    {"isprintable", test_text<all_printable>},
    {"isspace", test_text<all_space>},
    {"isupper", test_text<is_upper_case>},
    {"join", join},
    {"ljust", ljust},
    {"lower", lower},
    {"lstrip", lstrip},
    {"partition", partition},
    {"removeprefix", removeprefix},
    {"removesuffix", removesuffix},
    {"replace", replace},
    {"rfind", rfind},
    {"rindex", rindex},
    {"rjust", rjust},
    {"rpartition", rpartition},
    {"rsplit", rsplit},
    {"rstrip", rstrip},
    {"split", split},
    {"splitlines", splitlines},
    {"startswith", startswith},
    {"strip", strip},
    {"swapcase", swapcase},
    {"title", title},
    {"upper", upper},
    {"zfill", zfill},
};

}  // namespace

const Method* find_text_method(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTextMethods), std::end(kTextMethods),
                                   [&](const Method& method) { return method.name == name; });
  return found == std::end(kTextMethods) ? nullptr : found;
}

}  // namespace lockstep::jinja
