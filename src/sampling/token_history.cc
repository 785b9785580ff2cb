#include "sampling/token_history.h"

#include <limits>
#include <utility>

namespace lockstep {
namespace {

// Counts ids from the newest to the oldest until the window is full.
class Counter {
 public:
  Counter(int64_t window, TokenCounts& counts)
      : left_(window == 0 ? std::numeric_limits<int64_t>::max() : window), counts_(counts) {}

  void add(std::span<const int32_t> ids, bool reply) {
    for (size_t i = ids.size(); i > 0 && left_ > 0; --i, --left_) {
      TokenCounts::Count& count = counts_.of[static_cast<size_t>(ids[i - 1])];
      if (count.all++ == 0) counts_.ids.push_back(ids[i - 1]);
      if (reply) ++count.reply;
    }
  }

 private:
  int64_t left_;
  TokenCounts& counts_;
};

}  // namespace

void TokenCounts::clear(size_t vocab_size) {
  for (const int32_t id : ids) of[static_cast<size_t>(id)] = {};
  ids.clear();
  of.resize(vocab_size);
}

TokenHistory::TokenHistory(std::span<const int32_t> prompt)
    : prompt_(std::make_shared<const std::vector<int32_t>>(prompt.begin(), prompt.end())) {}

void TokenHistory::push(int32_t id) {
  tail_.push_back(id);
  if (tail_.size() < kChunk) return;
  full_ = std::make_shared<const Chunk>(Chunk{std::exchange(tail_, {}), full_});
}

void TokenHistory::count(int64_t window, size_t vocab_size, TokenCounts& counts) const {
  counts.clear(vocab_size);
  Counter counter(window, counts);
  counter.add(tail_, true);
  for (const Chunk* chunk = full_.get(); chunk != nullptr; chunk = chunk->before.get()) {
    counter.add(chunk->ids, true);
  }
  if (prompt_) counter.add(*prompt_, false);
}

}  // namespace lockstep
