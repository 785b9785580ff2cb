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

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  LOCKSTEP_CHECK(threads >= 1, "a thread pool needs at least one thread");
  for (int thread = 1; thread < threads; ++thread) {
    workers_.emplace_back([this, thread] { work(thread); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
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
  pending_.store(static_cast<int>(workers_.size()));
  epoch_.fetch_add(1);
  epoch_.notify_all();
  take_tasks(0);
  for (int spin = 0; pending_.load() != 0; ++spin) {
    if (spin < kSpins) {
      pause_briefly();
    } else if (const int pending = pending_.load(); pending != 0) {
      pending_.wait(pending);
    }
  }
}

void ThreadPool::take_tasks(int thread) {
  for (int64_t index; (index = next_.fetch_add(1)) < count_;) call_(context_, index, thread);
}

void ThreadPool::work(int thread) {
  check_float_mode();
  uint32_t seen = 0;
  while (true) {
    for (int spin = 0; spin < kSpins && epoch_.load() == seen; ++spin) pause_briefly();
    epoch_.wait(seen);
    seen = epoch_.load();
    if (stopping_.load()) return;
    take_tasks(thread);
    if (pending_.fetch_sub(1) == 1) pending_.notify_one();
  }
}

}  // namespace lockstep
