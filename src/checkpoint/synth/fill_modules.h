// Streams the values of planned modules into a writer.
#pragma once

#include <functional>

#include "base/result.h"
#include "base/thread_pool.h"
#include "checkpoint/safetensors_writer.h"
#include "checkpoint/synth/plan.h"

namespace lockstep {

// Writes all tensors of the plan: `trunk` and, if the plan has such tensors, `sidecar` (else null)
// were created with its specs. `progress` may be empty; false stops. Memory: about 2 MiB a thread.
Status fill_modules(const SynthPlan& plan, SafetensorsWriter& trunk, SafetensorsWriter* sidecar,
                    ThreadPool& pool,
                    const std::function<bool(uint64_t done, uint64_t total)>& progress);

}  // namespace lockstep
