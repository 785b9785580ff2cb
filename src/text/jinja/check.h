// What Jinja refuses before a template runs: unknown filters and tests, stray break and continue,
// assignments to `loop`. Also notes what macros mention, because that decides how they are called.
#pragma once

#include "text/jinja/ast.h"

namespace lockstep::jinja {

// Throws Fault.
void check(Document& document);

}  // namespace lockstep::jinja
