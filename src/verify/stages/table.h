// A comparison for readers and for programs.
#pragma once

#include <string>

#include "base/json.h"
#include "verify/stages/compare.h"

namespace lockstep::verify {

// Three tables: the residual stream stage by stage; every class of stage (q_proj, ffn_branch, ...)
// over all layers with its worst row and column; the choices with every top-2 margin.
std::string to_text(const Comparison& comparison);
json::object to_json(const Comparison& comparison);

}  // namespace lockstep::verify
