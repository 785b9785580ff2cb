// Filters that give numbers.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "text/jinja/arguments.h"
#include "text/jinja/fault.h"
#include "text/jinja/filters.h"
#include "text/jinja/iterate.h"
#include "text/jinja/literal.h"
#include "text/jinja/operators.h"
#include "text/jinja/select.h"

namespace lockstep::jinja {
namespace {

Value absolute(Runtime&, const Value& input, const Arguments& arguments) {
  const BoundArguments none("abs", arguments, {});
  require_defined(input);
  if (!input.is_number()) fail(fmt::format("bad operand type for abs(): '{}'", type_name(input)));
  if (input.is(Kind::kFloat)) return Value::number(std::abs(input.as_double()));
  return input.as_integer() < 0 ? negate(input) : Value::integer(input.as_integer());
}

Value truncated(double value) {
  if (!(std::abs(value) < 9223372036854775808.0)) {
    fail("an integer does not fit in 64 bits");
  }
  return Value::integer(static_cast<int64_t>(value));
}

Value to_int(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("int", arguments, {"default", "base"});
  const Value fallback = args.find(0) == nullptr ? Value::integer(0) : args.at(0);
  const auto base = static_cast<int>(std::clamp<int64_t>(args.integer_or(1, 10), -1, 99));
  require_defined(input);
  if (input.is_integral()) return Value::integer(input.as_integer());
  if (input.is(Kind::kFloat)) {
    if (std::isnan(input.as_double())) return fallback;
    if (std::isinf(input.as_double())) fail("cannot convert infinity to an integer");
    return truncated(input.as_double());
  }
  if (!input.is(Kind::kText)) return fallback;
  runtime.work(input.text().size());
  if (const auto value = parse_python_int(input.text(), base)) return Value::integer(*value);
  // "42.23" is 42.
  const auto value = parse_python_float(input.text());
  return value && std::isfinite(*value) ? truncated(*value) : fallback;
}

Value to_float(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("float", arguments, {"default"});
  require_defined(input);
  if (input.is_number()) return Value::number(input.as_double());
  if (input.is(Kind::kText)) {
    runtime.work(input.text().size());
    if (const auto value = parse_python_float(input.text())) return Value::number(*value);
  }
  return args.find(0) == nullptr ? Value::number(0) : args.at(0);
}

// Half to even on the exact decimal value, as Python rounds.
double round_decimal(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 400) return value;
  return std::strtod(fmt::format("{:.{}f}", value, digits).c_str(), nullptr);
}

Value round_directed(Runtime& runtime, const Value& input, int64_t digits, bool up) {
  const Value scale = binary(runtime, Binary::kPower, Value::integer(10), Value::integer(digits));
  const Value scaled = binary(runtime, Binary::kMultiply, input, scale);
  const double whole = up ? std::ceil(scaled.as_double()) : std::floor(scaled.as_double());
  if (!std::isfinite(whole)) fail("cannot convert infinity or NaN to an integer");
  const Value integer = scaled.is_integral() ? scaled : truncated(whole);
  return binary(runtime, Binary::kDivide, integer, scale);
}

Value round(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("round", arguments, {"precision", "method"});
  const std::string_view method = args.text_or(1, "common");
  const int64_t digits = args.integer_or(0, 0);
  if (method != "common" && method != "ceil" && method != "floor") {
    fail("round: the method must be common, ceil or floor");
  }
  require_defined(input);
  if (!input.is_number()) fail(fmt::format("round: expected a number, got '{}'", type_name(input)));
  if (digits < 0 || digits > 1000) {
    fail("round: only a precision from 0 to 1000 is supported", FaultKind::kUnsupported);
  }
  if (method != "common") return round_directed(runtime, input, digits, method == "ceil");
  if (input.is_integral()) return Value::integer(input.as_integer());
  return Value::number(round_decimal(input.as_double(), digits));
}

Value sum(Runtime& runtime, const Value& input, const Arguments& arguments) {
  const BoundArguments args("sum", arguments, {"attribute", "start"});
  Value total = args.find(1) == nullptr ? Value::integer(0) : args.at(1);
  if (total.is(Kind::kText)) fail("sum cannot add texts: use join");
  const bool by_attribute = !args.is_none(0);
  const AttributePath path = by_attribute ? AttributePath(runtime, args.at(0)) : AttributePath();
  const auto iterator = iterate(runtime, input);
  Value item;
  while (iterator->next(runtime, item)) {
    total = binary(runtime, Binary::kAdd, total, path.get(runtime, item));
  }
  return total;
}

constexpr Method kNumberFilters[] = {
    {"abs", absolute}, {"float", to_float}, {"int", to_int}, {"round", round}, {"sum", sum},
};

}  // namespace

const Method* find_number_filter(std::string_view name) {
  return find_in_table(kNumberFilters, name);
}

}  // namespace lockstep::jinja
