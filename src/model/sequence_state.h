// Everything that one sequence keeps: paged keys and values, and double-buffered recurrent and
// convolution state. A round reads the committed copy and writes the other one; commit publishes,
// and a round that is not committed leaves nothing behind that can be reached (docs/numerics.md,
// rules 20 and 21).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/result.h"
#include "model/page_pool.h"
#include "model/state_shape.h"

namespace lockstep {

struct DraftContext;

// Recurrent and convolution state in the middle of a segment: a forward pass fills in what stands
// before `position` (row_batch.h), and SequenceState::snapshot makes a sequence of it.
struct StateMark {
  int64_t position = 0;
  std::shared_ptr<RecurrentState> recurrent = nullptr;  // null: the pass takes one
};

class SequenceState {
 public:
  // Pages come from `pool`; without one, from the system as they are needed.
  explicit SequenceState(const StateShape& shape, std::shared_ptr<PagePool> pool = nullptr);

  const StateShape& shape() const { return shape_; }
  // Committed tokens; the next row stands at this position.
  int64_t position() const { return position_; }

  // Makes the pages of the next `rows` positions present and this sequence's own.
  Status begin_round(int64_t rows);
  // Pages that begin_round would take.
  int64_t pages_needed(int64_t rows) const;

  // Pages of one attention layer, a pointer per 64 positions. Valid until the next begin_round.
  std::byte* const* blocks(int64_t attention_layer) const {
    return blocks_[static_cast<size_t>(attention_layer)].data();
  }
  // Per delta layer: committed state, and the other copy, which a round writes whole.
  const float* conv_in(int64_t layer) const {
    return recurrent_[current_]->data() + layer * shape_.layer_floats();
  }
  float* conv_out(int64_t layer) {
    return recurrent_[1 - current_]->data() + layer * shape_.layer_floats();
  }
  const float* delta_in(int64_t layer) const { return conv_in(layer) + shape_.conv_floats; }
  float* delta_out(int64_t layer) { return conv_out(layer) + shape_.conv_floats; }

  // Publishes the round: `rows` more tokens, and the written copy as the committed one.
  void commit(int64_t rows);

  // A copy at the committed position. Pages and recurrent state are shared; a round writes neither
  // where another holds it.
  SequenceState snapshot() const;
  // A copy as it was after `mark.position` tokens, within the last round committed.
  SequenceState snapshot(StateMark mark) const;
  // Becomes such a copy of `other`, which has the same shape.
  void assign(const SequenceState& other);
  // What the draft head keeps of it, if it was saved with it. No copy carries it on.
  const std::shared_ptr<const DraftContext>& draft_context() const { return draft_context_; }
  void set_draft_context(std::shared_ptr<const DraftContext> context) {
    draft_context_ = std::move(context);
  }

  // Back to position 0; gives the pages back and keeps the rest of the memory.
  void clear();

  // Forgets tokens from `position` on. Keys and values can; recurrent state cannot, so this answers
  // false (and changes nothing) unless the shape has none or position is where the sequence stands.
  bool truncate(int64_t position);

  // Recurrent state of any contents, for a mark.
  std::shared_ptr<RecurrentState> new_recurrent() const;

  // Bytes of pages and state that this sequence alone or with others keeps alive.
  size_t bytes() const;
  int64_t page_count() const { return static_cast<int64_t>(pages_.size()); }

  SequenceState(SequenceState&&) = default;
  SequenceState& operator=(SequenceState&&) = default;

 private:
  SequenceState(const StateShape& shape, std::shared_ptr<PagePool> pool,
                std::shared_ptr<RecurrentState> recurrent);

  std::shared_ptr<KvPage> new_page() const;
  void point_blocks(size_t page);
  void share_pages(const SequenceState& other, int64_t position);

  StateShape shape_;
  std::shared_ptr<PagePool> pool_;
  int64_t position_ = 0;
  int current_ = 0;
  // The one that is not current may be null until a round begins.
  std::shared_ptr<RecurrentState> recurrent_[2];
  std::vector<std::shared_ptr<KvPage>> pages_;
  std::vector<std::vector<std::byte*>> blocks_;  // [attention layer][page]
  std::shared_ptr<const DraftContext> draft_context_;
};

}  // namespace lockstep
