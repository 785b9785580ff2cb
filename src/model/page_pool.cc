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

int64_t PagePool::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

void PagePool::give_back(KvPage* page) {
  const std::lock_guard lock(mutex_);
  --taken_;
  free_.emplace_back(page);
}

}  // namespace lockstep
