// What ".name", "[key]" and "[a:b:c]" give, in Jinja's sandbox: nothing that could change a value
// or reach into Python.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

// `object.name`: a method first, then an item.
Value get_attribute(Runtime& runtime, const Value& object, std::string_view name);
// `object[key]`: an item first, then a method.
Value get_item(Runtime& runtime, const Value& object, const Value& key);

// A method or attribute alone, never an item; none where there is none.
std::optional<Value> find_attribute(Runtime& runtime, const Value& object, std::string_view name);

// `object[start:stop:step]`; None and undefined-by-absence bounds are Value::none().
Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                const Value& step);

// Sets an attribute of a namespace; names that start with an underscore are refused.
void set_attribute(Runtime& runtime, const Value& space, std::string_view name, const Value& value);

}  // namespace lockstep::jinja
