// Python's operators on template values. A Fault is raised where Python raises TypeError and the
// like; integers stay within 64 bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

enum class Binary : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };
enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
};

Value binary(Runtime& runtime, Binary op, const Value& left, const Value& right);
Value negate(const Value& value);
Value unary_plus(const Value& value);

bool equals(Runtime& runtime, const Value& left, const Value& right);
// Raises where Python has no order between the two.
bool less(Runtime& runtime, const Value& left, const Value& right);
bool compare(Runtime& runtime, Comparison op, const Value& left, const Value& right);
// `item in container`.
bool contains(Runtime& runtime, const Value& container, const Value& item);
// Every part of a tuple must be hashable, too.
bool is_hashable(Runtime& runtime, const Value& value);

// Text is joined by +, ~ and join; the result of + is escaped where one side is marked safe.
std::string escape_html(std::string_view text);

// A Fault for an operation on an undefined value.
void require_defined(const Value& value);

}  // namespace lockstep::jinja
