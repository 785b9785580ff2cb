// The caller's JSON as template values.
#pragma once

#include "base/json.h"
#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

// Fault: text that is not UTF-8, integers beyond 64 bits, too much depth.
Value from_json(Runtime& runtime, const json::value& value);

}  // namespace lockstep::jinja
