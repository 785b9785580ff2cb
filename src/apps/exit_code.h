// What the process tells the shell.
#pragma once

namespace lockstep {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,   // the work could not be done: a bad file, a bad prompt, no memory, a full disk
  kUsage = 2,    // the command line is wrong
  kMissing = 3,  // what has to be there first is not: the model that is named
};

}  // namespace lockstep
