// What a model needs in memory, computed before any of it is taken.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "model/forward_pass.h"
#include "model/model.h"

namespace lockstep {

// Bytes.
struct MemoryPlan {
  uint64_t weights = 0;    // mapped from the checkpoint, as far as the model reads them
  uint64_t kv = 0;         // keys and values of one full context
  uint64_t state = 0;      // recurrent and convolution state, both copies
  uint64_t workspace = 0;  // activations of one forward pass
  uint64_t reserve = 0;    // tokenizer, program and what the system needs to go on

  uint64_t total() const { return weights + kv + state + workspace + reserve; }
};

// `context` in positions.
MemoryPlan plan_memory(const Model& model, const PassLimits& limits, int64_t context);

// The longest context up to the model's own that fits into `available` bytes. One that leaves no
// room for 256 positions is an error that names every term.
Result<int64_t> largest_context(const Model& model, const PassLimits& limits, uint64_t available);

// An error that names every term if the plan of this context does not fit.
Status check_fits(const MemoryPlan& plan, int64_t context, uint64_t available);

// "1.5 GiB".
std::string format_bytes(uint64_t bytes);

}  // namespace lockstep
