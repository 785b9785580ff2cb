#include "model/forward_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/float_mode.h"
#include "checkpoint/checkpoint_files.h"
#include "kernels/embed/embed.h"
#include "kernels/rope/rope.h"
#include "model/activations.h"
#include "model/fault_sites.h"
#include "model/layer_run.h"

namespace lockstep {
namespace {

constexpr int64_t kNoFault = std::numeric_limits<int64_t>::max();

void note_faults(const LayerRun& run, int64_t layer) {
  const int64_t hidden = run.config.hidden_size;
  for (int64_t row = 0; row < run.rows; ++row) {
    int64_t& fault = run.act.fault_layer[row];
    if (fault == kNoFault && !all_finite(run.act.residual + row * hidden, hidden)) fault = layer;
  }
}

// Logits of the rows in act.final_rows, for the first `scored` ids; the others, and those beyond
// the tokenizer's, are -infinity.
void run_head(const LayerRun& run, const Model& model, int64_t logit_rows, int64_t scored,
              std::string_view stage) {
  Activations& act = run.act;
  const int64_t vocab = run.config.vocab_size;
  ProductInput input = {.x = act.final_rows, .rows = logit_rows, .k = run.config.hidden_size};
  project(run, model.weights().head.row_slice(0, scored), input, act.logits, vocab);
  const int64_t end = std::min(scored, model.token_limit());
  for (int64_t row = 0; row < logit_rows; ++row) {
    std::fill(act.logits + row * vocab + end, act.logits + (row + 1) * vocab,
              -std::numeric_limits<float>::infinity());
  }
  LayerRun head = run;
  head.rows = logit_rows;
  head.show(stage, act.logits, vocab);
}

void gather_rows(const float* x, std::span<const int64_t> rows, int64_t width, float* out) {
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(x + rows[i] * width, width, out + static_cast<int64_t>(i) * width);
  }
}

void fill_rope(const Model& model, const std::array<int32_t, 3>& position, int64_t row,
               Activations& act) {
  const std::vector<float>& frequencies = model.rope_frequencies();
  const auto width = static_cast<int64_t>(frequencies.size());
  rope_table(frequencies, model.config().rope.mrope_section, model.rope_scale(), position,
             act.cos + row * width, act.sin + row * width);
}

std::array<int32_t, 3> text_position(int64_t position) {
  const auto p = static_cast<int32_t>(position);
  return {p, p, p};
}

Status check_rows(const char* what, std::span<const int32_t> ids,
                  std::span<const int64_t> logit_rows, const PassLimits& limits, int64_t vocab) {
  const auto rows = static_cast<int64_t>(ids.size());
  const auto fail = [&](std::string fault) {
    return Error{ErrorCode::kInvalidArgument, fmt::format("{}: {}", what, std::move(fault))};
  };
  if (rows < 1 || rows > limits.rows) {
    return fail(fmt::format("{} rows, this pass takes 1 to {}", rows, limits.rows));
  }
  if (static_cast<int64_t>(logit_rows.size()) > limits.logit_rows) {
    return fail(fmt::format("{} rows want logits, this pass gives at most {}", logit_rows.size(),
                            limits.logit_rows));
  }
  for (int64_t row : logit_rows) {
    if (row < 0 || row >= rows) return fail(fmt::format("logit row {} of {}", row, rows));
  }
  for (int32_t id : ids) {
    if (id < 0 || id >= vocab) {
      return fail(fmt::format("token id {} is not in the vocabulary of {}", id, vocab));
    }
  }
  return {};
}

int64_t rows_of(std::span<const BatchSegment> segments) {
  int64_t rows = 0;
  for (const BatchSegment& segment : segments) rows += segment.rows;
  return rows;
}

Status check_segments(const RowBatch& batch) {
  for (const BatchSegment& segment : batch.segments) {
    LOCKSTEP_CHECK(segment.sequence != nullptr && segment.rows >= 1, "an empty segment");
    if (segment.window != nullptr && segment.rows > segment.window->max_rows()) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("a window of {} rows, its trace holds {}", segment.rows,
                               segment.window->max_rows())};
    }
    int64_t last = segment.sequence->position();
    for (const StateMark& mark : segment.marks) {
      LOCKSTEP_CHECK(mark.position > last, "marks in order, inside the segment");
      last = mark.position;
    }
    LOCKSTEP_CHECK(last < segment.sequence->position() + segment.rows, "a mark inside the segment");
  }
  LOCKSTEP_CHECK(rows_of(batch.segments) == batch.rows(), "segments do not cover the batch");
  LOCKSTEP_CHECK(batch.rope_positions.empty() || batch.rope_positions.size() == batch.ids.size(),
                 "rope positions do not cover the batch");
  return {};
}

Status make_marks(const BatchSegment& segment) {
  try {
    for (StateMark& mark : segment.marks) {
      if (mark.recurrent == nullptr) mark.recurrent = segment.sequence->new_recurrent();
    }
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory, "no memory for the state of a mark"};
  }
  return {};
}

Buffer<std::byte> allocate(const ModelConfig& config, const PassLimits& limits) {
  return Buffer<std::byte>(ForwardPass::workspace_bytes(config, limits));
}

}  // namespace

struct ForwardPass::Workspace {
  Workspace(const ModelConfig& config, const PassLimits& limits)
      : memory(allocate(config, limits)), carver(memory.data()), act(config, limits, carver) {}

  Buffer<std::byte> memory;
  Carver carver;
  Activations act;
};

ForwardPass::ForwardPass(const Model& model, const CpuContext& context, const PassLimits& limits)
    : model_(model),
      context_(context),
      limits_(limits),
      workspace_(std::make_unique<Workspace>(model.config(), limits)) {
  check_float_mode();
}

ForwardPass::~ForwardPass() = default;

size_t ForwardPass::workspace_bytes(const ModelConfig& config, const PassLimits& limits) {
  Carver counter(nullptr);
  Activations act(config, limits, counter);
  return counter.used();
}

LayerRun ForwardPass::layer_run(std::span<const BatchSegment> segments, int64_t rows) {
  return {.config = model_.config(),
          .precision = model_.precision(),
          .context = context_,
          .act = workspace_->act,
          .segments = segments,
          .rows = rows,
          .tap = tap_ ? &tap_ : nullptr,
          .edit = edit_ ? &edit_ : nullptr};
}

void ForwardPass::prepare(const RowBatch& batch) {
  Activations& act = workspace_->act;
  std::fill_n(act.fault_layer, batch.rows(), kNoFault);
  int64_t row = 0;
  for (const BatchSegment& segment : batch.segments) {
    for (int64_t i = 0; i < segment.rows; ++i, ++row) {
      const auto position = batch.rope_positions.empty()
                                ? text_position(segment.sequence->position() + i)
                                : batch.rope_positions[static_cast<size_t>(row)];
      fill_rope(model_, position, row, act);
    }
  }
  run_embed(context_, {.table = model_.weights().embedding,
                       .ids = batch.ids.data(),
                       .rows = batch.rows(),
                       .out = act.residual});
}

Result<RoundOutput> ForwardPass::forward(const RowBatch& batch) {
  const ModelConfig& config = model_.config();
  LOCKSTEP_RETURN_IF_ERROR(
      check_rows("forward pass", batch.ids, batch.logit_rows, limits_, config.vocab_size));
  LOCKSTEP_RETURN_IF_ERROR(check_segments(batch));
  for (const BatchSegment& segment : batch.segments) {
    LOCKSTEP_RETURN_IF_ERROR(segment.sequence->begin_round(segment.rows));
    LOCKSTEP_RETURN_IF_ERROR(make_marks(segment));
  }
  run_round(batch, layer_run(batch.segments, batch.rows()));
  LOCKSTEP_RETURN_IF_ERROR(check_files(model_.checkpoint()));
  RoundOutput output = collect(batch);
  if (!output.faults.empty()) find_sites(batch, output.faults);
  return output;
}

// Nothing is committed yet, so the same round can run again and gives the same bits.
void ForwardPass::find_sites(const RowBatch& batch, std::vector<RowFault>& faults) {
  FaultSites sites(faults, batch.logit_rows, model_.token_limit());
  const StageTap tap = [&](std::string_view stage, int64_t layer, std::span<const float> data,
                           int64_t width) { sites.look(stage, layer, data, width); };
  LayerRun run = layer_run(batch.segments, batch.rows());
  run.tap = &tap;
  run_round(batch, run);
  faults = sites.take();
}

void ForwardPass::run_round(const RowBatch& batch, LayerRun run) {
  const ModelConfig& config = model_.config();
  Activations& act = workspace_->act;
  prepare(batch);
  run.layer = -1;
  run.show_residual(stages::kEmbed);
  int64_t of_kind[2] = {0, 0};  // layers so far of each mixer
  for (size_t i = 0; i < config.layers.size(); ++i) {
    int64_t& index = of_kind[config.layers[i] == Mixer::kFullAttention ? 1 : 0];
    run.layer = static_cast<int64_t>(i);
    run_layer(run, model_.weights().layers[i], index++);
    note_faults(run, run.layer);
  }
  run_norm(run, act.residual, model_.weights().final_norm, act.normed);
  run.layer = static_cast<int64_t>(config.layers.size());
  run.show(stages::kFinalNorm, act.normed, config.hidden_size);
  gather_rows(act.normed, batch.logit_rows, config.hidden_size, act.final_rows);
  run_head(run, model_, std::ssize(batch.logit_rows), config.vocab_size, stages::kLogits);
}

RoundOutput ForwardPass::collect(const RowBatch& batch) {
  const ModelConfig& config = model_.config();
  Activations& act = workspace_->act;
  const auto layer_count = static_cast<int64_t>(config.layers.size());
  for (size_t i = 0; i < batch.logit_rows.size(); ++i) {
    const float* logits = act.logits + static_cast<int64_t>(i) * config.vocab_size;
    int64_t& fault = act.fault_layer[batch.logit_rows[i]];
    if (fault == kNoFault && !all_finite(logits, model_.token_limit())) fault = layer_count;
  }
  RoundOutput output;
  const auto hidden_size = static_cast<size_t>(batch.rows() * config.hidden_size);
  output.logits = {act.logits, batch.logit_rows.size() * static_cast<size_t>(config.vocab_size)};
  output.hidden = {act.normed, hidden_size};
  output.hidden_pre = {act.residual, hidden_size};
  for (int64_t row = 0; row < batch.rows(); ++row) {
    const int64_t layer = act.fault_layer[row];
    if (layer != kNoFault) output.faults.push_back({.row = row, .layer = layer, .site = {}});
  }
  return output;
}

void ForwardPass::commit(const RowBatch& batch) {
  for (const BatchSegment& segment : batch.segments) segment.sequence->commit(segment.rows);
}

void ForwardPass::commit(const RowBatch& batch, std::span<const int64_t> accepted) {
  LOCKSTEP_CHECK(accepted.size() == batch.segments.size(), "one count per segment");
  for (size_t i = 0; i < batch.segments.size(); ++i) {
    const BatchSegment& segment = batch.segments[i];
    LOCKSTEP_CHECK(accepted[i] >= 0 && accepted[i] <= segment.rows, "more rows than were run");
    if (accepted[i] != 0 && accepted[i] != segment.rows) replay(segment, accepted[i]);
    segment.sequence->commit(accepted[i]);
  }
}

void ForwardPass::replay(const BatchSegment& segment, int64_t rows) {
  LOCKSTEP_CHECK(segment.window != nullptr, "part of a segment committed without a window");
  LayerRun run = layer_run({&segment, 1}, rows);
  run.tap = nullptr;  // these rows have been shown
  int64_t index = 0;
  for (const LayerWeights& layer : model_.weights().layers) {
    if (const auto* delta = std::get_if<DeltaWeights>(&layer.mixer)) {
      replay_window(run, *delta, index++, segment, rows);
    }
  }
}

Result<DraftOutput> ForwardPass::draft(const DraftBatch& batch) {
  LOCKSTEP_CHECK(model_.weights().mtp.has_value(), "this model has no draft head");
  const MtpWeights& weights = *model_.weights().mtp;
  const ModelConfig& config = model_.config();
  const int64_t hidden = config.hidden_size;
  const auto rows = static_cast<int64_t>(batch.ids.size());
  LOCKSTEP_RETURN_IF_ERROR(
      check_rows("draft pass", batch.ids, batch.logit_rows, limits_, config.vocab_size));
  LOCKSTEP_CHECK(static_cast<int64_t>(batch.hidden.size()) == rows * hidden, "hidden rows");
  LOCKSTEP_CHECK(rows_of(batch.segments) == rows, "segments do not cover the rows");
  for (const BatchSegment& segment : batch.segments) {
    LOCKSTEP_RETURN_IF_ERROR(segment.sequence->begin_round(segment.rows));
  }
  LayerRun run = layer_run(batch.segments, rows);
  run.layer = static_cast<int64_t>(config.layers.size()) + 1;
  Activations& act = workspace_->act;
  // The hidden rows may be this pass's own output: they are read before anything is written.
  run_norm(run, batch.hidden.data(), weights.hidden_norm, act.draft_half);
  run_embed(context_, {.table = model_.weights().embedding,
                       .ids = batch.ids.data(),
                       .rows = rows,
                       .out = act.residual});
  run_norm(run, act.residual, weights.embedding_norm, act.normed);
  run.show(stages::kDraftEmbeddingNorm, act.normed, hidden);
  run.show(stages::kDraftHiddenNorm, act.draft_half, hidden);
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(act.normed + row * hidden, hidden, act.draft_input + row * 2 * hidden);
    std::copy_n(act.draft_half + row * hidden, hidden, act.draft_input + (row * 2 + 1) * hidden);
  }
  int64_t first_row = 0;
  for (const BatchSegment& segment : batch.segments) {
    for (int64_t i = 0; i < segment.rows; ++i) {
      fill_rope(model_, text_position(segment.sequence->position() + i), first_row + i, act);
    }
    first_row += segment.rows;
  }
  ProductInput joined = {.x = act.draft_input, .rows = rows, .k = 2 * hidden};
  project(run, weights.fc, joined, act.residual);
  run.show(stages::kDraftInput, act.residual, hidden);
  run_layer(run, weights.layer, 0);
  run_norm(run, act.residual, weights.norm, act.normed);
  run.show(stages::kDraftNorm, act.normed, hidden);
  gather_rows(act.normed, batch.logit_rows, hidden, act.final_rows);
  const int64_t scored =
      batch.scored_ids == 0 ? config.vocab_size : std::min(batch.scored_ids, config.vocab_size);
  run_head(run, model_, std::ssize(batch.logit_rows), scored, stages::kDraftLogits);
  for (const BatchSegment& segment : batch.segments) segment.sequence->commit(segment.rows);
  return DraftOutput{
      .logits = {act.logits, batch.logit_rows.size() * static_cast<size_t>(config.vocab_size)},
      .hidden = {act.normed, static_cast<size_t>(rows * hidden)}};
}

}  // namespace lockstep
