// Reads a checkpoint's pages in before the first token needs them.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "checkpoint/checkpoint.h"

namespace lockstep {

// Every tensor that a forward pass may read: the trunk, the head, the draft head in use; not the
// vision tower. `progress` as in OpenOptions.
Status load_pages(const Checkpoint& checkpoint,
                  const std::function<void(uint64_t done, uint64_t total)>& progress);

}  // namespace lockstep
