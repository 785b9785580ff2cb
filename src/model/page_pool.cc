#include "model/page_pool.h"

#include <cstring>
#include <utility>

namespace lockstep {

std::shared_ptr<PagePool> PagePool::make(size_t page_bytes, int64_t capacity) {
  return std::shared_ptr<PagePool>(new PagePool(page_bytes, capacity));
}

std::shared_ptr<KvPage> PagePool::take() {
  std::unique_ptr<KvPage> page;
  {
    const std::lock_guard lock(mutex_);
    if (taken_ == capacity_) return nullptr;
    ++taken_;
    // There is room for every page that is out, so that giving one back cannot fail.
    if (free_.capacity() < static_cast<size_t>(taken_)) free_.reserve(2 * free_.capacity() + 16);
    if (!free_.empty()) {
      page = std::move(free_.back());
      free_.pop_back();
    }
  }
  try {
    if (page != nullptr) {
      std::memset(page->data(), 0, page->bytes());
    } else {
      page = std::make_unique<KvPage>(page_bytes_);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --taken_;
    throw;
  }
  // If the count cannot be allocated, the deleter runs all the same.
  return std::shared_ptr<KvPage>(page.release(),
                                 [pool = shared_from_this()](KvPage* p) { pool->give_back(p); });
}

std::shared_ptr<RecurrentState> PagePool::take_state(size_t floats) {
  std::unique_ptr<RecurrentState> state;
  {
    const std::lock_guard lock(mutex_);
    while (!free_states_.empty() && state == nullptr) {
      state = std::move(free_states_.back());
      free_states_.pop_back();
      if (state->size() == floats) continue;
      state.reset();
      --states_;
    }
    if (state == nullptr) {
      // As for pages: giving back cannot fail.
      if (free_states_.capacity() <= states_) free_states_.reserve(2 * states_ + 16);
      ++states_;
    }
  }
  if (state == nullptr) {
    try {
      state = std::make_unique<RecurrentState>(floats);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      --states_;
      throw;
    }
  }
  return std::shared_ptr<RecurrentState>(
      state.release(), [pool = shared_from_this()](RecurrentState* s) { pool->give_back(s); });
}

int64_t PagePool::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

void PagePool::give_back(KvPage* page) {
  const std::lock_guard lock(mutex_);
  --taken_;
  free_.emplace_back(page);
}

void PagePool::give_back(RecurrentState* state) {
  const std::lock_guard lock(mutex_);
  free_states_.emplace_back(state);
}

}  // namespace lockstep
