#include "text/jinja/is_tests.h"

#include <fmt/format.h>

#include <string>

#include "text/jinja/arguments.h"
#include "text/jinja/fault.h"
#include "text/jinja/filters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_tools.h"

namespace lockstep::jinja {
namespace {

template <Kind... kKinds>
bool is_kind(Runtime&, const Value& value, const Arguments& arguments) {
  const BoundArguments none("the test", arguments, {});
  return (value.is(kKinds) || ...);
}

bool is_defined(Runtime&, const Value& value, const Arguments& arguments) {
  const BoundArguments none("defined", arguments, {});
  return !value.is(Kind::kUndefined);
}

template <bool kWanted>
bool is_boolean(Runtime&, const Value& value, const Arguments& arguments) {
  const BoundArguments none("the test", arguments, {});
  return value.is(Kind::kBool) && value.as_bool() == kWanted;
}

bool has_remainder(Runtime& runtime, const Value& value, const Value& divisor, int64_t rest) {
  return equals(runtime, binary(runtime, Binary::kModulo, value, divisor), Value::integer(rest));
}

bool is_odd(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments none("odd", arguments, {});
  return has_remainder(runtime, value, Value::integer(2), 1);
}

bool is_even(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments none("even", arguments, {});
  return has_remainder(runtime, value, Value::integer(2), 0);
}

bool is_divisible(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments args("divisibleby", arguments, {"num"}, 1);
  return has_remainder(runtime, value, args.at(0), 0);
}

void require_hashable(Runtime& runtime, const Value& value) {
  if (!is_hashable(runtime, value)) fail(fmt::format("unhashable type: '{}'", type_name(value)));
}

bool is_filter_name(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments none("filter", arguments, {});
  require_hashable(runtime, value);
  return value.is(Kind::kText) && find_filter(value.text()) != nullptr;
}

bool is_test_name(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments none("test", arguments, {});
  require_hashable(runtime, value);
  return value.is(Kind::kText) && find_test(value.text()) != nullptr;
}

bool is_lower(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments none("lower", arguments, {});
  return is_lower_case(to_text(runtime, value));
}

bool is_upper(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments none("upper", arguments, {});
  return is_upper_case(to_text(runtime, value));
}

bool is_iterable_value(Runtime&, const Value& value, const Arguments& arguments) {
  const BoundArguments none("iterable", arguments, {});
  return is_iterable(value) || value.is(Kind::kLoop);
}

// Python's `is`: text and containers are the same only where they are one object.
bool is_same(Runtime&, const Value& value, const Arguments& arguments) {
  const BoundArguments args("sameas", arguments, {"other"}, 1);
  const Value& other = args.at(0);
  if (value.kind() != other.kind()) return false;
  if (value.object() != nullptr || other.object() != nullptr) {
    return value.object() == other.object();
  }
  return value.is(Kind::kNone) || (value.is_integral() && value.as_integer() == other.as_integer());
}

bool is_escaped(Runtime&, const Value& value, const Arguments& arguments) {
  const BoundArguments none("escaped", arguments, {});
  return value.is_safe_text();
}

bool is_in(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments args("in", arguments, {"seq"}, 1);
  return contains(runtime, args.at(0), value);
}

template <Comparison kOperator>
bool compares(Runtime& runtime, const Value& value, const Arguments& arguments) {
  const BoundArguments args("the comparison", arguments, {""}, 1);
  return compare(runtime, kOperator, value, args.at(0));
}

constexpr IsTest kTests[] = {
    {"!=", compares<Comparison::kNotEqual>},
    {"<", compares<Comparison::kLess>},
    {"<=", compares<Comparison::kLessEqual>},
    {"==", compares<Comparison::kEqual>},
    {">", compares<Comparison::kGreater>},
    {">=", compares<Comparison::kGreaterEqual>},
    {"boolean", is_kind<Kind::kBool>},
    {"callable", is_kind<Kind::kCallable, Kind::kLoop, Kind::kUndefined>},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", compares<Comparison::kEqual>},
    {"equalto", compares<Comparison::kEqual>},
    {"escaped", is_escaped},
    {"even", is_even},
    {"false", is_boolean<false>},
    {"filter", is_filter_name},
    {"float", is_kind<Kind::kFloat>},
    {"ge", compares<Comparison::kGreaterEqual>},
    {"greaterthan", compares<Comparison::kGreater>},
    {"gt", compares<Comparison::kGreater>},
    {"in", is_in},
    {"integer", is_kind<Kind::kInteger>},
    {"iterable", is_iterable_value},
    {"le", compares<Comparison::kLessEqual>},
    {"lessthan", compares<Comparison::kLess>},
    {"lower", is_lower},
    {"lt", compares<Comparison::kLess>},
    {"mapping", is_kind<Kind::kMapping>},
    {"ne", compares<Comparison::kNotEqual>},
    {"none", is_kind<Kind::kNone>},
    {"number", is_kind<Kind::kBool, Kind::kInteger, Kind::kFloat>},
    {"odd", is_odd},
    {"sameas", is_same},
    // Undefined has a length and items as far as Python's protocols can tell.
    {"sequence", is_kind<Kind::kText, Kind::kList, Kind::kTuple, Kind::kMapping, Kind::kRange,
                         Kind::kUndefined>},
    {"string", is_kind<Kind::kText>},
    {"test", is_test_name},
    {"true", is_boolean<true>},
    {"undefined", is_kind<Kind::kUndefined>},
    {"upper", is_upper},
};

}  // namespace

const IsTest* find_test(std::string_view name) {
  for (const IsTest& test : kTests) {
    if (test.name == name) return &test;
  }
  return nullptr;
}

}  // namespace lockstep::jinja
