// The functions that every chat template may call.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace lockstep::jinja {

// range, dict, namespace, raise_exception and strftime_now.
std::vector<std::pair<std::string, Value>> standard_functions();

}  // namespace lockstep::jinja
