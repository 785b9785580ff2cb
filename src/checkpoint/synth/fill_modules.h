// Streams the values of planned modules into a writer.
#pragma once

#include "base/result.h"
#include "base/thread_pool.h"
#include "checkpoint/safetensors_writer.h"
#include "checkpoint/synth/plan.h"
#include "checkpoint/tile_loop.h"

namespace lockstep {

// Writes all tensors of the plan: `trunk` and, if the plan has such tensors, `sidecar` (else null)
// were created with its specs. `progress` may be empty; false stops. Memory: about 2 MiB a thread.
Status fill_modules(const SynthPlan& plan, SafetensorsWriter& trunk, SafetensorsWriter* sidecar,
                    ThreadPool& pool, const Progress& progress);

}  // namespace lockstep
