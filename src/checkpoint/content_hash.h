// What a checkpoint contains, as one number: two checkpoints with equal hashes give equal states.
#pragma once

#include "base/hash128.h"
#include "base/result.h"
#include "checkpoint/checkpoint.h"

namespace lockstep {

// Of config.json, where there is one, and of every byte of the weight files: it reads them all, as
// fast as memory or the disk gives them. Names and order of the files do not enter.
Result<Hash128> content_hash(const Checkpoint& checkpoint);

}  // namespace lockstep
