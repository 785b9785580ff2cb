// Python's str() and repr() of template values.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

// str(value). Undefined is empty text.
std::string to_text(Runtime& runtime, const Value& value);
// What to_text gives, as a value; text stays itself, marked safe or not.
Value as_text(Runtime& runtime, const Value& value);

void append_repr(Runtime& runtime, const Value& value, std::string& out);
std::string quote_python(std::string_view text);

}  // namespace lockstep::jinja
