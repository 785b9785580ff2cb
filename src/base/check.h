// LOCKSTEP_CHECK stops the program on our own bugs, never on input.
#pragma once

#include <string_view>

namespace lockstep {

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view message);

}  // namespace lockstep

#define LOCKSTEP_CHECK(condition, message)                                                 \
  do {                                                                                     \
    if (!(condition)) ::lockstep::check_failed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)
