// The forward pass on CPU: rows of a batch through every layer, in memory that is allocated once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "kernels/cpu_context.h"
#include "model/model.h"
#include "model/row_batch.h"
#include "model/sequence_state.h"
#include "model/stages.h"

namespace lockstep {

struct LayerRun;

struct PassLimits {
  int64_t rows = 256;       // of one batch
  int64_t logit_rows = 16;  // of one batch
};

// Rows of the draft head, segment after segment: row r joins the trunk's (or the head's own) hidden
// row with the embedding of the token that follows it, at its draft state's next positions.
struct DraftBatch {
  std::span<const BatchSegment> segments;  // of states of Model::draft_state_shape; no windows
  std::span<const float> hidden;           // [rows, H]
  std::span<const int32_t> ids;            // [rows]: the token after each hidden row
  std::span<const int64_t> logit_rows;     // ascending
  int64_t scored_ids = 0;                  // ids below it get logits, the others -infinity; 0: all
};

struct DraftOutput {
  std::span<const float> logits;  // [logit_rows, V], as RoundOutput::logits
  std::span<const float> hidden;  // [rows, H] after the head's norm: what a chained step feeds back
};

class ForwardPass {
 public:
  ForwardPass(const Model& model, const CpuContext& context, const PassLimits& limits);
  ~ForwardPass();

  // Bytes that a pass of these limits allocates.
  static size_t workspace_bytes(const ModelConfig& config, const PassLimits& limits);

  const Model& model() const { return model_; }
  const PassLimits& limits() const { return limits_; }
  // Shows every stage of forward() and draft() from now on; null: none, at no cost.
  void set_tap(StageTap tap) { tap_ = std::move(tap); }
  // Changes the residual stream of every round from now on; null: nothing.
  void set_residual_edit(ResidualEdit edit) { edit_ = std::move(edit); }

  // Phase one. Errors: a batch over the limits, an id outside the vocabulary, no memory for a page.
  Result<RoundOutput> forward(const RowBatch& batch);

  // Phase two: accepted[s] rows of segment s, all of them or, where the segment has a window, fewer
  // (also 0).
  void commit(const RowBatch& batch, std::span<const int64_t> accepted);
  // All rows of all segments.
  void commit(const RowBatch& batch);

  // One pass of the draft head; publishes the rows' keys and values (the draft cache is outside the
  // promise: rejected rows are truncated away). The model must have a draft head.
  Result<DraftOutput> draft(const DraftBatch& batch);

 private:
  struct Workspace;

  LayerRun layer_run(std::span<const BatchSegment> segments, int64_t rows);
  void prepare(const RowBatch& batch);
  void run_round(const RowBatch& batch, LayerRun run);
  void find_sites(const RowBatch& batch, std::vector<RowFault>& faults);
  RoundOutput collect(const RowBatch& batch);
  void replay(const BatchSegment& segment, int64_t rows);

  const Model& model_;
  CpuContext context_;
  PassLimits limits_;
  StageTap tap_;
  ResidualEdit edit_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace lockstep
