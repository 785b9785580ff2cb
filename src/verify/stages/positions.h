// Which positions of a sequence a dump keeps.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lockstep::verify {

// "all", or positions and ranges with commas between them: "0,5,10-20,last". The result is
// ascending without repeats. Errors: anything else, a position outside [0, count).
Result<std::vector<int32_t>> parse_positions(std::string_view text, int64_t count);

}  // namespace lockstep::verify
