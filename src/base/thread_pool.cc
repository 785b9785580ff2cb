#include "base/thread_pool.h"

#include "base/check.h"
#include "base/float_mode.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep {
namespace {

// About 50 microseconds: longer than the gap between two kernels of a round, short enough that an
// idle process sleeps.
constexpr int kSpins = 2000;

constexpr uint32_t kInside = (1u << 11) - 1;
constexpr uint32_t kClosed = 1u << 11;
constexpr uint32_t kEpoch = 1u << 12;

constexpr uint32_t epoch_of(uint32_t state) { return state / kEpoch; }

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) : state_(kClosed) {
  LOCKSTEP_CHECK(threads >= 1 && threads <= kMaxThreads, "1 to 2047 threads");
  for (int thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread] { work(thread); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  state_.fetch_add(kEpoch);  // still closed; wakes whoever sleeps
  state_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_erased(int64_t count, Erased call, const void* context) {
  if (workers_.empty() || count <= 1) {
    for (int64_t index = 0; index < count; ++index) call(context, index, 0);
    return;
  }
  call_ = call;
  context_ = context;
  count_ = count;
  next_.store(0);
  state_.store((epoch_of(state_.load()) + 1) * kEpoch);
  state_.notify_all();
  take_tasks(0);
  uint32_t state = state_.fetch_or(kClosed) | kClosed;
  for (int spin = 0; (state & kInside) != 0; state = state_.load()) {
    if (++spin < kSpins) {
      pause_briefly();
    } else {
      state_.wait(state);
    }
  }
}

void ThreadPool::take_tasks(int thread) {
  for (int64_t index; (index = next_.fetch_add(1)) < count_;) call_(context_, index, thread);
}

bool ThreadPool::enter(uint32_t& seen) {
  uint32_t state = state_.load();
  while ((state & kClosed) == 0 && epoch_of(state) != epoch_of(seen)) {
    if (state_.compare_exchange_weak(state, state + 1)) {
      seen = state;
      return true;
    }
  }
  return false;
}

void ThreadPool::leave() {
  const uint32_t state = state_.fetch_sub(1) - 1;
  if ((state & kClosed) != 0 && (state & kInside) == 0) state_.notify_all();
}

void ThreadPool::work(int thread) {
  check_float_mode();
  uint32_t seen = kClosed;  // the last job entered
  int spin = 0;
  while (!stopping_.load()) {
    if (enter(seen)) {
      take_tasks(thread);
      leave();
      spin = 0;
    } else if (++spin < kSpins) {
      pause_briefly();
    } else {
      const uint32_t state = state_.load();
      const bool open = (state & kClosed) == 0 && epoch_of(state) != epoch_of(seen);
      if (!open && !stopping_.load()) state_.wait(state);
    }
  }
}

}  // namespace lockstep
