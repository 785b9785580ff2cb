// Reading and writing JSON: Boost.JSON behind limits, and a writer of our own, because templates
// and clients expect the form of Python's json.dumps.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lockstep {

namespace json = boost::json;

// Parses one whole document, at most 64 levels deep. Numbers that no int64, uint64 or finite double
// holds, duplicate keys, NaN and Infinity are errors. `what` names the text in the message
// ("config.json").
Result<json::value> parse_json(std::string_view text, std::string_view what);

// Python's json.dumps(value, ensure_ascii=False): ", " and ": " between items, keys in insertion
// order, doubles in shortest form ("0.1", "1.0", "1e-05"), NaN and infinities as NaN, Infinity,
// -Infinity. `indent` > 0 puts every item on a line of its own, as json.dumps(indent=...) does.
std::string dump_json(const json::value& value, int indent = 0);

// A string with its quotes and escapes, as above.
std::string quote_json(std::string_view text);

// A double as Python's repr() writes it.
std::string format_double(double value);

}  // namespace lockstep
