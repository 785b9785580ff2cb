// Python's json.dumps() for the filter "tojson".
#pragma once

#include <optional>
#include <string>

#include "text/jinja/runtime.h"
#include "text/jinja/value.h"

namespace lockstep::jinja {

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent;  // of one level; none keeps everything on one line
  std::string item_separator = ", ";  // "," by default where there is an indent
  std::string key_separator = ": ";
};

std::string to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace lockstep::jinja
