// The floating-point environment that the promise needs: round to nearest, subnormals kept.
#pragma once

namespace lockstep {

// Stops the program if this thread flushes subnormals or rounds another way (a library loaded into
// the process may have switched that). Called at the start of every thread that computes.
void check_float_mode();

}  // namespace lockstep
