// A reply for programs.
#pragma once

#include <string>

#include "apps/engine.h"
#include "apps/reply.h"

namespace lockstep {

// One JSON object on one line.
std::string run_json(const Engine& engine, const FinishedReply& finished);

}  // namespace lockstep
