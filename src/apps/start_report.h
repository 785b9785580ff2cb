// What a user is told before the first token.
#pragma once

#include <string>

#include "apps/engine.h"
#include "apps/sampling_choice.h"

namespace lockstep {

// Lines for standard error: what runs, on what, at which precision, how it samples, and what of the
// checkpoint is not used.
std::string start_report(const Engine& engine, const SamplingChoice& sampling);

}  // namespace lockstep
