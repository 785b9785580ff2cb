#include "apps/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace lockstep {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// Becomes readable with the flag, so that a wait cannot miss a signal that came just before it.
int wake_descriptor() {
  static const int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return descriptor;
}
std::atomic<int> wake = -1;

void note_interrupt(int) {
  const int error = errno;
  interrupted.store(true, std::memory_order_relaxed);
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake.load(), &one, sizeof one);
  errno = error;
}

}  // namespace

InterruptScope::InterruptScope(SecondInterrupt second) {
  wake = wake_descriptor();
  clear();
  struct sigaction action = {};
  action.sa_handler = note_interrupt;
  if (second == SecondInterrupt::kEndsProcess) action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &before_);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &before_, nullptr);
  clear();
}

void InterruptScope::clear() {
  // In this order a signal in between leaves the flag set with nothing to read, or both: never a
  // readable descriptor without the flag.
  interrupted = false;
  uint64_t pending = 0;
  [[maybe_unused]] const ssize_t drained = read(wake, &pending, sizeof pending);
}

std::atomic<bool>& InterruptScope::flag() { return interrupted; }

bool wait_for_input() {
  std::array<pollfd, 2> descriptors = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{wake, POLLIN, 0}};
  while (!interrupted) {
    const int ready = poll(descriptors.data(), descriptors.size(), -1);
    if (ready > 0 && descriptors[0].revents != 0 && !interrupted) return true;
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return true;  // reading will tell what is wrong
  }
  return false;
}

}  // namespace lockstep
