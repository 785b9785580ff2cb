// A reply for programs.
#pragma once

#include <string>

#include "apps/engine.h"
#include "apps/reply.h"
#include "base/json.h"

namespace lockstep {

// What came of one reply.
json::object reply_json(const Engine& engine, const FinishedReply& finished);

// The same and what made it: one JSON object on one line.
std::string run_json(const Engine& engine, const FinishedReply& finished);

}  // namespace lockstep
