// The methods that templates may call on text, lists and mappings.
#pragma once

#include <string_view>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

struct Method {
  std::string_view name;
  Value (*call)(Runtime& runtime, const Value& self, const Arguments& arguments);
};

// Null where the type has no such method, or only one that changes the value.
const Method* find_method(const Value& object, std::string_view name);
const Method* find_text_method(std::string_view name);
// True for what Python has but the sandbox hides: append, pop, update ...
bool is_hidden_attribute(const Value& object, std::string_view name);

}  // namespace lockstep::jinja
