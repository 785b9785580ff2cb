// Ctrl-C as a flag.
#pragma once

#include <signal.h>

#include <atomic>

namespace lockstep {

enum class SecondInterrupt {
  kEndsProcess,  // the next Ctrl-C does what it does without us
  kSetsFlag,     // every Ctrl-C sets the flag
};

// While it lives, Ctrl-C sets flag(), which is clear before and after. What Ctrl-C did before comes
// back at the end.
class InterruptScope {
 public:
  explicit InterruptScope(SecondInterrupt second);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  static std::atomic<bool>& flag();
  static void clear();

 private:
  struct sigaction before_;
};

// Waits until standard input has something to read, or ends; false if Ctrl-C set the flag first,
// in whichever thread and however early.
bool wait_for_input();

}  // namespace lockstep
