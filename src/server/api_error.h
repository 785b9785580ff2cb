// A request that cannot be answered, as clients are told.
#pragma once

#include <optional>
#include <string>

namespace lockstep {

struct ApiError {
  int status = 400;
  std::string message;
  std::string param = {};  // the field that is wrong, as a path: "messages[0].content"
  std::string code = {};   // a word for programs: "context_length_exceeded"
};

// Nothing: all is well.
using ApiStatus = std::optional<ApiError>;

}  // namespace lockstep
