// Matches a call's arguments to a function's parameters, by position and by name.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "text/jinja/value.h"

namespace lockstep::jinja {

class BoundArguments {
 public:
  // Parameters with an empty name are given by position only. Faults: too many, unknown, given
  // twice, or one of the first `required` missing.
  BoundArguments(std::string_view function, const Arguments& arguments,
                 std::initializer_list<std::string_view> names, size_t required = 0);

  // Null where the caller gave nothing.
  const Value* find(size_t index) const { return values_[index]; }
  const Value& at(size_t index) const { return *values_[index]; }  // of required ones

  // These are Faults where the value has another type.
  std::string_view text(size_t index) const;
  std::string_view text_or(size_t index, std::string_view fallback) const;
  int64_t integer(size_t index) const;
  int64_t integer_or(size_t index, int64_t fallback) const;
  bool truth_or(size_t index, bool fallback) const;
  // Missing or None.
  bool is_none(size_t index) const;

 private:
  [[noreturn]] void fail_type(size_t index, const char* expected) const;

  std::string_view function_;
  std::vector<const Value*> values_;
};

}  // namespace lockstep::jinja
