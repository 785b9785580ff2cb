#include "model/sequence_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"

namespace lockstep {
namespace {

int64_t pages_of(int64_t positions) { return (positions + kKvBlock - 1) / kKvBlock; }

}  // namespace

SequenceState::SequenceState(const StateShape& shape, std::shared_ptr<PagePool> pool)
    : SequenceState(shape, std::move(pool), nullptr) {
  clear();
}

SequenceState::SequenceState(const StateShape& shape, std::shared_ptr<PagePool> pool,
                             std::shared_ptr<RecurrentState> recurrent)
    : shape_(shape), pool_(std::move(pool)), blocks_(static_cast<size_t>(shape.attention_layers)) {
  recurrent_[0] = std::move(recurrent);
}

std::shared_ptr<RecurrentState> SequenceState::new_recurrent() const {
  const size_t floats = shape_.recurrent_floats();
  return pool_ != nullptr ? pool_->take_state(floats) : std::make_shared<RecurrentState>(floats);
}

std::shared_ptr<KvPage> SequenceState::new_page() const {
  return pool_ != nullptr ? pool_->take() : std::make_shared<KvPage>(shape_.page_bytes());
}

void SequenceState::point_blocks(size_t page) {
  for (size_t layer = 0; layer < blocks_.size(); ++layer) {
    blocks_[layer].resize(std::max(blocks_[layer].size(), page + 1));
    blocks_[layer][page] = pages_[page]->data() + layer * shape_.kv.block_bytes();
  }
}

int64_t SequenceState::pages_needed(int64_t rows) const {
  const int64_t end = pages_of(position_ + rows);
  int64_t needed = std::max<int64_t>(0, end - page_count());
  for (int64_t page = position_ / kKvBlock; page < std::min(end, page_count()); ++page) {
    if (pages_[static_cast<size_t>(page)].use_count() > 1) ++needed;
  }
  return needed;
}

Status SequenceState::begin_round(int64_t rows) {
  const auto end = static_cast<size_t>(pages_of(position_ + rows));
  try {
    std::shared_ptr<RecurrentState>& other = recurrent_[1 - current_];
    if (other.use_count() != 1) other = new_recurrent();
    for (auto page = static_cast<size_t>(position_ / kKvBlock); page < end; ++page) {
      const bool present = page < pages_.size();
      if (present && pages_[page].use_count() == 1) continue;
      std::shared_ptr<KvPage> own = new_page();
      if (own == nullptr) {
        return Error{ErrorCode::kOutOfMemory,
                     fmt::format("all {} pages of keys and values are taken, position {} needs one "
                                 "more",
                                 pool_->capacity(), page * kKvBlock)};
      }
      if (present) {
        std::memcpy(own->data(), pages_[page]->data(), own->bytes());
        pages_[page] = std::move(own);
      } else {
        pages_.push_back(std::move(own));
      }
      point_blocks(page);
    }
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory,
                 fmt::format("no memory for the keys and values of position {}", position_ + rows)};
  }
  return {};
}

void SequenceState::commit(int64_t rows) {
  LOCKSTEP_CHECK(position_ + rows <= page_count() * kKvBlock,
                 "more rows committed than the round wrote");
  if (rows == 0) return;
  position_ += rows;
  current_ = 1 - current_;
}

void SequenceState::share_pages(const SequenceState& other, int64_t position) {
  position_ = position;
  pages_.assign(other.pages_.begin(), other.pages_.begin() + pages_of(position));
  for (size_t page = 0; page < pages_.size(); ++page) point_blocks(page);
}

SequenceState SequenceState::snapshot() const {
  SequenceState copy(shape_, pool_, recurrent_[current_]);
  copy.share_pages(*this, position_);
  return copy;
}

SequenceState SequenceState::snapshot(StateMark mark) const {
  LOCKSTEP_CHECK(mark.position <= position_ && mark.recurrent != nullptr,
                 "a mark of another round");
  SequenceState copy(shape_, pool_, std::move(mark.recurrent));
  copy.share_pages(*this, mark.position);
  return copy;
}

void SequenceState::assign(const SequenceState& other) {
  LOCKSTEP_CHECK(shape_.recurrent_floats() == other.shape_.recurrent_floats(), "another shape");
  recurrent_[current_] = other.recurrent_[other.current_];
  share_pages(other, other.position_);
}

void SequenceState::clear() {
  position_ = 0;
  pages_.clear();
  std::shared_ptr<RecurrentState>& committed = recurrent_[current_];
  if (committed.use_count() != 1) committed = new_recurrent();
  std::fill_n(committed->data(), committed->size(), 0.0f);
}

bool SequenceState::truncate(int64_t position) {
  LOCKSTEP_CHECK(position >= 0 && position <= position_, "truncation beyond the end");
  if (position != position_ && shape_.delta_layers > 0) return false;
  position_ = position;
  return true;
}

size_t SequenceState::bytes() const {
  size_t bytes = pages_.size() * shape_.page_bytes();
  for (const auto& copy : recurrent_) bytes += copy == nullptr ? 0 : copy->bytes();
  return bytes;
}

}  // namespace lockstep
