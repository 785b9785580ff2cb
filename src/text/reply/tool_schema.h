// The tools of a request as far as their calls are read by them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace lockstep {

// The JSON types that a schema allows a value to have.
struct ValueTypes {
  bool string = false;
  bool integer = false;
  bool number = false;
  bool boolean = false;
  bool object = false;
  bool array = false;
  bool null = false;

  bool any_but_string() const { return integer || number || boolean || object || array || null; }
};

using ToolParameters = std::map<std::string, ValueTypes, std::less<>>;
using ToolSignatures = std::map<std::string, ToolParameters, std::less<>>;

// From the `tools` of a chat request: [{"type": "function", "function": {"name", "parameters"}}].
// A parameter's types are those of its "type" (one or a list) and of the branches of anyOf and
// oneOf; none where the schema says none. Errors name the tool that is not as it should be.
Result<ToolSignatures> read_tools(const json::array& tools);

// `text` as JSON of one of the types, else of a string: null, true and false in any case, an
// integer also as 5.0, objects and arrays as JSON. "null" stays a string only where strings are
// allowed and null is not.
std::string to_json_value(std::string_view text, const ValueTypes& types);

}  // namespace lockstep
