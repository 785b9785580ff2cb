// A round's rows: what the runtime asks of one forward pass, the same on every backend.
//
// A round mixes rows of several sequences: one row of a running reply, a window of drafts, a chunk
// of a prompt. The rows of a sequence stand together, in order, at the positions that follow its
// committed tokens. Nothing tells a prompt row from a reply row, because nothing may depend on it.
//
// A round has two phases. ForwardPass::forward computes and writes nothing committed;
// ForwardPass::commit publishes, per segment, the first `accepted` rows: all of a chunk, or as many
// of a window as the drafts were right. Between them the runtime samples.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/window_trace.h"

namespace lockstep {

class SequenceState;
struct StateMark;

struct BatchSegment {
  SequenceState* sequence = nullptr;  // each sequence at most once in a batch
  int64_t rows = 0;                   // at least 1
  // Keeps what a commit of fewer rows than were run needs; null: only all rows can be committed.
  WindowTrace* window = nullptr;
  // Positions inside the segment, ascending, whose state is kept on the way: for a snapshot in the
  // middle of a chunk. They change no bit and cost a pass over the recurrent state each.
  std::span<StateMark> marks = {};
};

struct RowBatch {
  std::vector<BatchSegment> segments;
  std::vector<int32_t> ids;         // [rows], segment after segment, each in [0, V)
  std::vector<int64_t> logit_rows;  // rows whose logits are wanted, ascending
  // Rotary positions of each row on the axes time, height, width; empty: the position on all three.
  std::vector<std::array<int32_t, 3>> rope_positions;

  int64_t rows() const { return static_cast<int64_t>(ids.size()); }
};

// The first value of a row that is not finite: the row's request fails, the others go on.
struct RowFault {
  int64_t row = 0;
  int64_t layer = 0;      // as model/stages.h counts them
  std::string_view site;  // the name of the stage
};

// Results of a round, in the pass's own memory: valid until its next call.
struct RoundOutput {
  std::span<const float> logits;  // [logit_rows, V]; ids the tokenizer does not know are -infinity
  std::span<const float> hidden;  // [rows, H] after the final norm: what the draft head reads
  std::span<const float> hidden_pre;  // [rows, H] before it
  std::vector<RowFault> faults;       // ascending by row, one a row at the most
};

}  // namespace lockstep
