// Plays schedules on a model and compares every row with what its tokens give when they are read
// alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/forward_pass.h"
#include "model/model.h"
#include "verify/exact/row_hash.h"
#include "verify/exact/schedule.h"
#include "verify/exact/stage_values.h"

namespace lockstep::verify {

// A sequence of tokens, and what it gives alone.
struct Stream {
  std::vector<int32_t> ids;
  std::vector<BitHash> logits = {};  // of each row
  BitHash state = {};                // after all of them: fingerprint()
};

// One row to look into.
struct Watch {
  size_t stream = 0;
  int64_t position = 0;
};

struct Difference {
  size_t stream = 0;
  std::optional<int64_t> position;  // of the row whose logits differ; absent: the state at the end
  std::string text;                 // what is known without looking into it
};

struct Played {
  int64_t rows = 0;                      // compared
  std::optional<Difference> difference;  // the first; the schedule is played no further
  std::vector<StageValues> watched;      // of the watched row, the last time that it was run
};

class Player {
 public:
  // `rows`: the most of a round. Every row's logits are computed: a pass of `rows` logit rows.
  Player(const Model& model, int threads, Isa isa, int64_t rows);

  // Fills in what `stream` gives alone, all of it in one round.
  Status read_alone(Stream& stream);

  // Errors: what a forward pass refuses, no memory.
  Result<Played> play(const Schedule& schedule, std::span<const Stream> streams,
                      std::optional<Watch> watch = std::nullopt);

  // As the schedule played last left it.
  const SequenceState& sequence(size_t stream) const { return sequences_[stream]; }

 private:
  Result<RoundOutput> forward(const Round& round, std::span<const Stream> streams, RowBatch& batch);
  void begin(const Schedule& schedule, size_t streams, std::optional<Watch> watch);
  void fork(const Fork& fork);
  Status play_round(const Round& round, std::span<const Stream> streams, Played& played);
  void compare(const Round& round, std::span<const Stream> streams, const RoundOutput& output,
               Played& played) const;
  std::optional<Difference> compare_row(const Part& part, const Stream& stream, int64_t index,
                                        int64_t row, const RoundOutput& output) const;
  void compare_states(std::span<const Stream> streams, Played& played) const;
  void look(std::string_view stage, int64_t layer, std::span<const float> data, int64_t width);
  void poison(int64_t layer, std::span<float> residual) const;

  ThreadPool pool_;
  ForwardPass pass_;
  std::vector<SequenceState> sequences_;
  // Per stream
  std::vector<std::unique_ptr<WindowTrace>> traces_;  // made when first needed
  std::vector<StateMark> marks_;

  // Of the schedule and the round that run
  std::optional<size_t> poisoned_;
  int64_t poisoned_begin_ = 0, poisoned_end_ = 0;  // rows of the round
  std::optional<Watch> watch_;
  std::optional<int64_t> watched_row_;  // of the round
  std::vector<StageValues> watched_;
};

}  // namespace lockstep::verify
