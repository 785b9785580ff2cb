// What a reply cost, as programs are told.
#pragma once

#include "base/json.h"
#include "runtime/reply.h"

namespace lockstep {

// Tokens and seconds of queue, prompt and reply; why no more of the prompt was found in the cache;
// what was drafted and accepted, by the place in a window.
json::object timings_json(const ReplyTimings& timings);

}  // namespace lockstep
