#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "text/jinja/fault.h"
#include "text/jinja/operators.h"
#include "text/jinja/percent_format.h"

namespace lockstep::jinja {
namespace {

const char* symbol(Binary op) {
  static constexpr const char* kSymbols[] = {"+", "-", "*", "/", "//", "%", "**"};
  return kSymbols[static_cast<int>(op)];
}

[[noreturn]] void fail_types(Binary op, const Value& left, const Value& right) {
  fail(fmt::format("unsupported operand types for {}: '{}' and '{}'", symbol(op), type_name(left),
                   type_name(right)));
}

void check_overflow(bool overflow) {
  if (overflow) fail("the result of integer arithmetic does not fit in 64 bits");
}

// Python rounds quotients down and gives remainders the divisor's sign.
int64_t floor_divide(int64_t left, int64_t right) {
  if (right == 0) fail("integer division or modulo by zero");
  if (right == -1) {
    int64_t result = 0;
    check_overflow(__builtin_sub_overflow(int64_t{0}, left, &result));
    return result;
  }
  return left / right - (left % right != 0 && (left < 0) != (right < 0) ? 1 : 0);
}

int64_t floor_modulo(int64_t left, int64_t right) {
  if (right == 0) fail("integer division or modulo by zero");
  if (right == -1) return 0;
  const int64_t rest = left % right;
  return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
}

int64_t integer_power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  for (int64_t i = 0; i < exponent; ++i) {  // at most 63 rounds before it overflows
    check_overflow(__builtin_mul_overflow(result, base, &result));
  }
  return result;
}

double float_modulo(double left, double right) {
  if (right == 0) fail("float modulo by zero");
  double rest = std::fmod(left, right);
  if (rest != 0) {
    if ((rest < 0) != (right < 0)) rest += right;
  } else {
    rest = std::copysign(0.0, right);
  }
  return rest;
}

double float_floor_divide(double left, double right) {
  if (right == 0) fail("float floor division by zero");
  const double rest = std::fmod(left, right);
  double quotient = (left - rest) / right;
  if (rest != 0 && (rest < 0) != (right < 0)) quotient -= 1.0;
  if (quotient == 0) return std::copysign(0.0, left / right);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1.0 : floored;
}

double float_power(double base, double exponent) {
  if (base == 0 && exponent < 0) fail("0.0 cannot be raised to a negative power");
  if (base < 0 && std::isfinite(base) && std::isfinite(exponent) &&
      exponent != std::floor(exponent)) {
    fail("a negative number to a fractional power is complex, which is not supported");
  }
  const double result = std::pow(base, exponent);
  if (std::isinf(result) && std::isfinite(base) && std::isfinite(exponent)) {
    fail("the result of a power is too large");
  }
  return result;
}

Value integer_binary(Binary op, int64_t left, int64_t right) {
  int64_t result = 0;
  switch (op) {
    case Binary::kAdd:
      check_overflow(__builtin_add_overflow(left, right, &result));
      return Value::integer(result);
    case Binary::kSubtract:
      check_overflow(__builtin_sub_overflow(left, right, &result));
      return Value::integer(result);
    case Binary::kMultiply:
      check_overflow(__builtin_mul_overflow(left, right, &result));
      return Value::integer(result);
    case Binary::kDivide:
      if (right == 0) fail("division by zero");
      return Value::number(static_cast<double>(static_cast<long double>(left) / right));
    case Binary::kFloorDivide:
      return Value::integer(floor_divide(left, right));
    case Binary::kModulo:
      return Value::integer(floor_modulo(left, right));
    case Binary::kPower:
      if (right < 0) {
        return Value::number(float_power(static_cast<double>(left), static_cast<double>(right)));
      }
      return Value::integer(integer_power(left, right));
  }
  return {};
}

Value float_binary(Binary op, double left, double right) {
  switch (op) {
    case Binary::kAdd:
      return Value::number(left + right);
    case Binary::kSubtract:
      return Value::number(left - right);
    case Binary::kMultiply:
      return Value::number(left * right);
    case Binary::kDivide:
      if (right == 0) fail("float division by zero");
      return Value::number(left / right);
    case Binary::kFloorDivide:
      return Value::number(float_floor_divide(left, right));
    case Binary::kModulo:
      return Value::number(float_modulo(left, right));
    case Binary::kPower:
      return Value::number(float_power(left, right));
  }
  return {};
}

Value add_texts(Runtime& runtime, const Value& left, const Value& right) {
  const bool safe = left.is_safe_text() || right.is_safe_text();
  const auto part = [&](const Value& value) {
    return safe && !value.is_safe_text() ? escape_html(value.text()) : std::string(value.text());
  };
  std::string sum = part(left);
  sum += part(right);
  return make_text(runtime, std::move(sum), safe);
}

Value add_sequences(Runtime& runtime, const Value& left, const Value& right) {
  runtime.work((left.items().size() + right.items().size()) * sizeof(Value));
  Items items = left.items();
  items.insert(items.end(), right.items().begin(), right.items().end());
  return left.is(Kind::kList) ? make_list(runtime, std::move(items))
                              : make_tuple(runtime, std::move(items));
}

// Text or a sequence, `count` times. Nothing is made before it is charged.
Value repeat(Runtime& runtime, const Value& value, int64_t count) {
  const size_t times = count > 0 ? static_cast<size_t>(count) : 0;
  const size_t unit =
      value.is(Kind::kText) ? value.text().size() : value.items().size() * sizeof(Value);
  size_t total = 0;
  if (__builtin_mul_overflow(unit, times, &total)) total = std::numeric_limits<size_t>::max();
  runtime.work(total);
  const size_t rounds = unit == 0 ? 0 : times;
  if (value.is(Kind::kText)) {
    if (unit == 1) {
      return make_text(runtime, std::string(total, value.text()[0]), value.is_safe_text());
    }
    std::string text;
    text.reserve(total);
    for (size_t i = 0; i < rounds; ++i) text += value.text();
    return make_text(runtime, std::move(text), value.is_safe_text());
  }
  Items items;
  items.reserve(total / sizeof(Value));
  for (size_t i = 0; i < rounds; ++i) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return value.is(Kind::kList) ? make_list(runtime, std::move(items))
                               : make_tuple(runtime, std::move(items));
}

bool is_repeatable(const Value& value) { return value.is(Kind::kText) || value.is_sequence(); }

}  // namespace

Value binary(Runtime& runtime, Binary op, const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral()) {
    return integer_binary(op, left.as_integer(), right.as_integer());
  }
  if (left.is_number() && right.is_number()) {
    return float_binary(op, left.as_double(), right.as_double());
  }
  if (op == Binary::kModulo && left.is(Kind::kText)) {
    return format_percent(runtime, left, right);
  }
  require_defined(left);
  require_defined(right);
  if (op == Binary::kAdd && left.is(Kind::kText) && right.is(Kind::kText)) {
    return add_texts(runtime, left, right);
  }
  if (op == Binary::kAdd && left.is_sequence() && left.kind() == right.kind()) {
    return add_sequences(runtime, left, right);
  }
  if (op == Binary::kMultiply && is_repeatable(left) && right.is_integral()) {
    return repeat(runtime, left, right.as_integer());
  }
  if (op == Binary::kMultiply && is_repeatable(right) && left.is_integral()) {
    return repeat(runtime, right, left.as_integer());
  }
  fail_types(op, left, right);
}

Value negate(const Value& value) {
  require_defined(value);
  if (value.is(Kind::kFloat)) return Value::number(-value.as_double());
  if (!value.is_integral()) fail(fmt::format("bad operand type for -: '{}'", type_name(value)));
  return integer_binary(Binary::kSubtract, 0, value.as_integer());
}

Value unary_plus(const Value& value) {
  require_defined(value);
  if (value.is(Kind::kFloat)) return value;
  if (!value.is_integral()) fail(fmt::format("bad operand type for +: '{}'", type_name(value)));
  return Value::integer(value.as_integer());
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void require_defined(const Value& value) {
  if (value.is(Kind::kUndefined)) fail(value.undefined_message());
}

}  // namespace lockstep::jinja
