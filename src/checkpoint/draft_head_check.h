// Does the draft head fit the model: every tensor there, in the right shape and a readable format?
#pragma once

#include "base/result.h"
#include "checkpoint/checkpoint.h"

namespace lockstep {

// Reads all of it without marking it as used. Its tensors must be exactly those of one
// full-attention layer with the model's sizes, fc and the four norms.
Status check_draft_head(Checkpoint& checkpoint);

}  // namespace lockstep
