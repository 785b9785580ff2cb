// Everything that one sequence keeps: paged keys and values, and double-buffered recurrent and
// convolution state. A round reads the committed copy and writes the other one; commit publishes,
// and a round that is not committed leaves nothing behind that can be reached (docs/numerics.md,
// rules 20 and 21).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "model/state_shape.h"

namespace lockstep {

// 64 positions of all attention layers; shared between sequences until one of them writes.
using KvPage = Buffer<std::byte>;

class SequenceState {
 public:
  explicit SequenceState(const StateShape& shape);

  const StateShape& shape() const { return shape_; }
  // Committed tokens; the next row stands at this position.
  int64_t position() const { return position_; }

  // Makes the pages of the next `rows` positions present and this sequence's own.
  Status begin_round(int64_t rows);

  // Pages of one attention layer, a pointer per 64 positions. Valid until the next begin_round.
  std::byte* const* blocks(int64_t attention_layer) const {
    return blocks_[static_cast<size_t>(attention_layer)].data();
  }
  // Per delta layer: committed state, and the other copy, which a round writes whole.
  const float* conv_in(int64_t layer) const { return recurrent(current_, layer); }
  float* conv_out(int64_t layer) { return recurrent(1 - current_, layer); }
  const float* delta_in(int64_t layer) const { return conv_in(layer) + shape_.conv_floats; }
  float* delta_out(int64_t layer) { return conv_out(layer) + shape_.conv_floats; }

  // Publishes the round: `rows` more tokens, and the written copy as the committed one.
  void commit(int64_t rows);

  // A copy at the committed position. Pages are shared, recurrent state is copied.
  SequenceState snapshot() const;

  // Forgets tokens from `position` on. Keys and values can; recurrent state cannot, so this answers
  // false (and changes nothing) unless the shape has none or position is where the sequence stands.
  bool truncate(int64_t position);

  // Bytes of pages and state that this sequence alone or with others keeps alive.
  size_t bytes() const;

  SequenceState(SequenceState&&) = default;
  SequenceState& operator=(SequenceState&&) = default;

 private:
  const float* recurrent(int copy, int64_t layer) const {
    return recurrent_[copy].data() + layer * (shape_.conv_floats + shape_.delta_floats);
  }
  float* recurrent(int copy, int64_t layer) {
    return recurrent_[copy].data() + layer * (shape_.conv_floats + shape_.delta_floats);
  }
  void point_blocks(size_t page);

  StateShape shape_;
  int64_t position_ = 0;
  int current_ = 0;
  Buffer<float> recurrent_[2];
  std::vector<std::shared_ptr<KvPage>> pages_;
  std::vector<std::vector<std::byte*>> blocks_;  // [attention layer][page]
};

}  // namespace lockstep
