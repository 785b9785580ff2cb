// Jinja's tests: {{ value is name(arguments) }}.
#pragma once

#include <string_view>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

struct IsTest {
  std::string_view name;
  bool (*call)(Runtime& runtime, const Value& value, const Arguments& arguments);
};

// Null where there is none.
const IsTest* find_test(std::string_view name);

}  // namespace lockstep::jinja
