// The one thread pool of the process. Which thread runs which task never decides a bit: a task owns
// its outputs whole, and no sum crosses tasks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace lockstep {

inline constexpr int kMaxThreads = 2047;

class ThreadPool {
 public:
  // `threads` counts the calling thread too; 1 to kMaxThreads.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(index, thread) for every index in [0, count), thread in [0, threads()); returns when
  // all are done. Only one thread may call it at a time, and tasks must not call it. Tasks must not
  // throw.
  template <typename Task>
  void run(int64_t count, const Task& task) {
    run_erased(
        count,
        [](const void* context, int64_t index, int thread) {
          (*static_cast<const Task*>(context))(index, thread);
        },
        &task);
  }

 private:
  using Erased = void (*)(const void* context, int64_t index, int thread);

  void run_erased(int64_t count, Erased call, const void* context);
  void work(int thread);
  void take_tasks(int thread);
  bool enter(uint32_t& seen);
  void leave();

  // One job at a time. A worker enters it before it touches anything of it; a job that is closed
  // lets nobody in, and run() waits only for those who entered. So a thread that the system keeps
  // from running costs nothing: the others do its share.
  //
  // state_ = epoch << 12 | closed << 11 | workers inside.
  std::atomic<uint32_t> state_;
  std::atomic<bool> stopping_{false};
  Erased call_ = nullptr;
  const void* context_ = nullptr;
  int64_t count_ = 0;
  std::atomic<int64_t> next_{0};
  std::vector<std::thread> workers_;
};

}  // namespace lockstep
