// The last line of a reply: what it cost.
#pragma once

#include <string>

#include "runtime/reply.h"

namespace lockstep {

// "prompt 23 tokens at 410 tok/s, reply 96 tokens at 58.1 tok/s (stop)".
std::string describe_figures(const Reply& reply);

}  // namespace lockstep
