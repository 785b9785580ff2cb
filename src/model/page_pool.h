// Pages of keys and values under one limit, and recurrent states, kept for reuse: what a finished
// sequence gives back is what the next one takes, so that a process that answers requests all day
// does not grow, and a snapshot costs the system no new memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/buffer.h"

namespace lockstep {

// 64 positions of all attention layers; shared between sequences until one of them writes.
using KvPage = Buffer<std::byte>;
// One copy of the recurrent and convolution state of all layers; shared until one of them writes.
using RecurrentState = Buffer<float>;

// Pages come back from any thread; a page keeps its pool alive.
class PagePool : public std::enable_shared_from_this<PagePool> {
 public:
  static std::shared_ptr<PagePool> make(size_t page_bytes, int64_t capacity);

  // All zero. Null if `capacity` pages are out; std::bad_alloc if the system has no memory.
  std::shared_ptr<KvPage> take();

  // `floats` of any contents; no limit but the system's.
  std::shared_ptr<RecurrentState> take_state(size_t floats);

  int64_t capacity() const { return capacity_; }
  // Pages that sequences and snapshots hold, each counted once however many share it.
  int64_t taken() const;

 private:
  PagePool(size_t page_bytes, int64_t capacity) : page_bytes_(page_bytes), capacity_(capacity) {}
  void give_back(KvPage* page);
  void give_back(RecurrentState* state);

  const size_t page_bytes_;
  const int64_t capacity_;
  mutable std::mutex mutex_;
  int64_t taken_ = 0;
  std::vector<std::unique_ptr<KvPage>> free_;
  size_t states_ = 0;  // out or free
  std::vector<std::unique_ptr<RecurrentState>> free_states_;
};

}  // namespace lockstep
