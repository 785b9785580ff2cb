// Python's two ways to fill a text: "..." % values and "...".format(values).
#pragma once

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

// Conversions s, r, d, i, u, x, X, o, c, f, F, e, E, g, G and %, with flags, width and precision.
Value format_percent(Runtime& runtime, const Value& format, const Value& values);

// Fields {}, {0} and {name}, with !s and !r; format specifications are not supported.
Value format_braces(Runtime& runtime, const Value& format, const Arguments& arguments);

}  // namespace lockstep::jinja
