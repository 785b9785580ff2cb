// Many prompts from a file, answered at once.
#pragma once

#include "apps/command_line.h"
#include "apps/console.h"

namespace lockstep {

// `run --batch`: one JSON line of output for each line of input, in order. A line that cannot be
// answered gets an error line, and the exit code says that there was one.
int run_batch(const RunArgs& args, const Console& console);

}  // namespace lockstep
