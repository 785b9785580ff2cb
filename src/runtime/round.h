// One round: rows of several streams through the model, what follows from their logits, and only
// then anything that stays. A stream that fails in any phase ends by name; the others go on with
// unchanged bits, because nothing of a round is committed before all of it is known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "model/forward_pass.h"
#include "runtime/stream.h"

namespace lockstep {

enum class RoundPhase : uint8_t {
  kEnter,    // a stream gets its place
  kForward,  // the pass; nothing committed is written
  kDraw,     // tokens from logits
  kCheck,    // the request's own check
  kCommit,   // the round's rows become state
  kSave,     // snapshots are taken
  kPublish,  // the caller is told
};

// For tests: asked in each phase for each stream that takes part, an error makes the phase fail for
// it. An error in kForward is a failure of the whole pass.
using FaultHook = std::function<Status(RoundPhase phase, uint64_t request, int64_t reply)>;

// Takes the state of a stream at one of its points.
using SnapshotSink =
    std::function<void(Stream& stream, const SavePoint& point, SequenceState snapshot)>;

// Sees the trunk's hidden rows [rows, H] that are about to be committed from `position` on.
using HiddenSink =
    std::function<void(Stream& stream, int64_t position, std::span<const float> hidden)>;

struct Grant {
  Stream* stream = nullptr;
  int64_t rows = 0;  // of what is pending; those beyond it are of the stream's drafts
};

struct RoundSeconds {
  double pass = 0.0;  // forward and commit
  double draw = 0.0;  // sampling and log-probabilities
};

class Round {
 public:
  // The pass gives logits for as many rows as there are streams.
  Round(ForwardPass& pass, ThreadPool& pool, FaultHook fault, SnapshotSink sink, HiddenSink hidden);

  // Runs the granted rows, at least one stream's. Streams whose reply is over, well or not, have an
  // `end` afterwards. If the pass fails, its streams are tried one by one without their drafts, so
  // that only those that fail alone end.
  RoundSeconds run(std::span<const Grant> grants);

 private:
  // A stream's part in the round.
  struct Part {
    Stream* stream = nullptr;
    int64_t rows = 0;
    int64_t first_row = 0;
    int64_t drafts = 0;  // of the rows, the last ones
    // In the output: of the row whose logits give the next token; one for each draft follows.
    std::optional<size_t> logit_row;
    size_t score_row = 0;          // the first of those whose log-probabilities are told
    std::vector<Logprobs> scores;  // of the tokens after them
    std::vector<StateMark> marks;
    Status status;
    std::optional<RowFault> draft_fault;  // matters if the drafts before it are right
    // What was drawn, and what of it counts once the round is committed.
    std::optional<Sampler> sampler;
    std::vector<ReplyToken> tokens;
    int64_t draws = 0;  // whose rows are committed: tokens, and one that only ends the reply
    std::optional<Error> failure;  // of the draw after these
    std::optional<FinishReason> finish;
    std::optional<int32_t> stop_id;

    // Rows that are committed if nothing fails.
    int64_t right_rows() const { return logit_row ? rows - drafts - 1 + draws : rows; }
  };

  Status ask(RoundPhase phase, const Stream& stream) const;
  void build(std::span<const Grant> grants);
  void add_part(const Grant& grant, Part& part);
  Result<RoundOutput> forward();
  void run_alone(std::span<const Grant> grants, const Error& error, RoundSeconds& seconds);
  void note_faults(const RoundOutput& output);
  void draw(const RoundOutput& output);
  void score(std::span<const float> logits, Part& part) const;
  void draw_window(std::span<const float> logits, Part& part, SamplerScratch& scratch) const;
  Status draw_one(std::span<const float> logits, Part& part, SamplerScratch& scratch) const;
  Error numeric_fault(const RowFault& fault, const Part& part) const;
  void judge(Part& part) const;
  Result<TokenVerdict> ask_check(const Stream& stream, int32_t id) const;
  void commit(const RoundOutput& output);
  void save(Part& part);
  void publish(Part& part);
  void note_draws(const Part& part) const;

  ForwardPass& pass_;
  ThreadPool& pool_;
  FaultHook fault_;
  SnapshotSink sink_;
  HiddenSink hidden_;                    // may be null
  std::vector<SamplerScratch> scratch_;  // of each thread
  RowBatch batch_;
  std::vector<Part> parts_;
  std::vector<int64_t> accepted_;
  double row_seconds_ = 0.0;  // of the pass, for each of its rows
};

}  // namespace lockstep
