// Paths of other servers that are not served here.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

// A sentence: what the path is for elsewhere, and what to use here.
std::string describe_missing_path(std::string_view path);

}  // namespace lockstep
