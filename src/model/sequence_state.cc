#include "model/sequence_state.h"

#include <algorithm>
#include <new>
#include <string>

#include "base/check.h"

namespace lockstep {

SequenceState::SequenceState(const StateShape& shape)
    : shape_(shape), blocks_(static_cast<size_t>(shape.attention_layers)) {
  for (Buffer<float>& copy : recurrent_) copy = Buffer<float>(shape.recurrent_floats());
}

void SequenceState::point_blocks(size_t page) {
  for (size_t layer = 0; layer < blocks_.size(); ++layer) {
    blocks_[layer].resize(std::max(blocks_[layer].size(), page + 1));
    blocks_[layer][page] = pages_[page]->data() + layer * shape_.kv.block_bytes();
  }
}

Status SequenceState::begin_round(int64_t rows) {
  const auto first = static_cast<size_t>(position_ / kKvBlock);
  const auto end = static_cast<size_t>((position_ + rows + kKvBlock - 1) / kKvBlock);
  try {
    for (size_t page = first; page < end; ++page) {
      if (page == pages_.size()) {
        pages_.push_back(std::make_shared<KvPage>(shape_.page_bytes()));
      } else if (pages_[page].use_count() > 1) {
        auto copy = std::make_shared<KvPage>(shape_.page_bytes());
        std::memcpy(copy->data(), pages_[page]->data(), copy->bytes());
        pages_[page] = std::move(copy);
      }
      point_blocks(page);
    }
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "no memory for the keys and values of position " +
                                              std::to_string(position_ + rows)};
  }
  return {};
}

void SequenceState::commit(int64_t rows) {
  LOCKSTEP_CHECK(position_ + rows <= static_cast<int64_t>(pages_.size()) * kKvBlock,
                 "more rows committed than the round wrote");
  if (rows == 0) return;
  position_ += rows;
  current_ = 1 - current_;
}

SequenceState SequenceState::snapshot() const {
  SequenceState copy(shape_);
  copy.position_ = position_;
  const Buffer<float>& committed = recurrent_[current_];
  std::copy_n(committed.data(), committed.size(), copy.recurrent_[0].data());
  copy.pages_.assign(pages_.begin(), pages_.begin() + (position_ + kKvBlock - 1) / kKvBlock);
  for (size_t page = 0; page < copy.pages_.size(); ++page) copy.point_blocks(page);
  return copy;
}

bool SequenceState::truncate(int64_t position) {
  LOCKSTEP_CHECK(position >= 0 && position <= position_, "truncation beyond the end");
  if (position != position_ && shape_.delta_layers > 0) return false;
  position_ = position;
  return true;
}

size_t SequenceState::bytes() const {
  return recurrent_[0].bytes() + recurrent_[1].bytes() + pages_.size() * shape_.page_bytes();
}

}  // namespace lockstep
