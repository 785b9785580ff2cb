// Whether a checkpoint's files are still those that were opened.
#pragma once

#include "base/result.h"
#include "checkpoint/checkpoint.h"

namespace lockstep {

// An error once a file is shorter, longer or of another time than when it was opened: what is read
// of it is then no model. A system call for each file.
Status check_files(const Checkpoint& checkpoint);

}  // namespace lockstep
