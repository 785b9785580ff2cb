#include "verify/mtp/mtp.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/forward_pass.h"
#include "verify/stages/goals.h"

namespace lockstep::verify {
namespace {

class DraftRecorder {
 public:
  DraftRecorder(const Model& model, const CpuContext& context, std::span<const int32_t> ids,
                std::span<const int32_t> positions)
      : model_(model),
        ids_(ids),
        pass_(model, context, kRecordLimits),
        trunk_(model.state_shape()),
        post_{kMtpPost, SequenceState(model.draft_state_shape()), {}},
        pre_{kMtpPre, SequenceState(model.draft_state_shape()), {}} {
    record_.dump = begin_dump(model, ids, positions);
  }

  Result<DraftRecord> run(const Progress& progress) {
    LOCKSTEP_RETURN_IF_ERROR(run_in_rounds(ids_.size(), progress, [this](int64_t begin) {
      begin_ = begin;
      return run_chunk();
    }));
    count_accepted();
    return std::move(record_);
  }

 private:
  struct Convention {
    std::string_view name;
    SequenceState state;
    std::vector<int32_t> choices;  // a row each
  };

  Status run_chunk() {
    const int64_t rows = std::min<int64_t>(kRecordLimits.rows, std::ssize(ids_) - begin_);
    const auto ids = ids_.subspan(static_cast<size_t>(begin_), static_cast<size_t>(rows));
    RowBatch batch;
    batch.segments = {{.sequence = &trunk_, .rows = rows}};
    batch.ids.assign(ids.begin(), ids.end());
    batch.logit_rows.resize(ids.size());
    std::iota(batch.logit_rows.begin(), batch.logit_rows.end(), 0);
    LOCKSTEP_ASSIGN_OR_RETURN(const RoundOutput output, pass_.forward(batch));
    if (!output.faults.empty()) {
      return Error{ErrorCode::kNumeric, fmt::format("a value that is not finite at position {}",
                                                    begin_ + output.faults.front().row)};
    }
    pass_.commit(batch);
    keep_choices(output.logits, trunk_choices_);
    // A draft writes over the memory of the round.
    const std::vector<float> post(output.hidden.begin(), output.hidden.end());
    const std::vector<float> pre(output.hidden_pre.begin(), output.hidden_pre.end());
    LOCKSTEP_RETURN_IF_ERROR(run_draft(post_, post));
    return run_draft(pre_, pre);
  }

  Status run_draft(Convention& convention, std::span<const float> hidden) {
    const auto after = ids_.subspan(static_cast<size_t>(begin_) + 1);
    const size_t rows = std::min(after.size(), static_cast<size_t>(kRecordLimits.rows));
    if (rows == 0) return {};
    std::vector<int64_t> logit_rows(rows);
    std::iota(logit_rows.begin(), logit_rows.end(), 0);
    const auto width = static_cast<size_t>(model_.config().hidden_size);
    const BatchSegment segment = {.sequence = &convention.state,
                                  .rows = static_cast<int64_t>(rows)};
    LOCKSTEP_ASSIGN_OR_RETURN(const DraftOutput output,
                              pass_.draft({.segments = {&segment, 1},
                                           .hidden = hidden.first(rows * width),
                                           .ids = after.first(rows),
                                           .logit_rows = logit_rows}));
    keep_choices(output.logits, convention.choices);
    const int64_t vocab = model_.config().vocab_size;
    std::vector<float>& kept = record_.dump.at(convention.name, vocab).data;
    for (const int32_t position : record_.dump.positions) {
      const int64_t row = position - begin_;
      if (row < 0 || row >= static_cast<int64_t>(rows)) continue;
      const auto begin = output.logits.begin() + row * vocab;
      kept.insert(kept.end(), begin, begin + vocab);
    }
    return {};
  }

  void keep_choices(std::span<const float> logits, std::vector<int32_t>& choices) const {
    const auto vocab = static_cast<size_t>(model_.config().vocab_size);
    for (size_t begin = 0; begin < logits.size(); begin += vocab) {
      choices.push_back(top_two(logits.subspan(begin, vocab)).first);
    }
  }

  void count_accepted() {
    record_.acceptance.drafts = std::ssize(post_.choices);
    for (size_t row = 0; row < post_.choices.size(); ++row) {
      record_.acceptance.post += post_.choices[row] == trunk_choices_[row + 1];
      record_.acceptance.pre += pre_.choices[row] == trunk_choices_[row + 1];
    }
  }

  const Model& model_;
  std::span<const int32_t> ids_;
  ForwardPass pass_;
  SequenceState trunk_;
  Convention post_;
  Convention pre_;
  std::vector<int32_t> trunk_choices_;
  DraftRecord record_;
  int64_t begin_ = 0;
};

}  // namespace

Result<DraftRecord> record_drafts(const Model& model, const CpuContext& context,
                                  std::span<const int32_t> ids, std::span<const int32_t> positions,
                                  const Progress& progress) {
  if (!model.weights().mtp) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("this model has no draft head: {} (--mtp FILE names one)",
                             model.checkpoint().mtp.reason)};
  }
  if (ids.size() < 2) {
    return Error{ErrorCode::kInvalidArgument, "a draft needs a sequence of two ids at least"};
  }
  return DraftRecorder(model, context, ids, positions).run(progress);
}

Result<MtpResult> compare_mtp(const Model& model, const CpuContext& context,
                              const StageDump& reference, const Progress& progress) {
  LOCKSTEP_RETURN_IF_ERROR(check_same_weights(reference, "the reference",
                                              weights_checksum(model.checkpoint()), "the model"));
  if (reference.identity.vocab != model.config().vocab_size) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the reference has a vocabulary of {}, the model of {}",
                             reference.identity.vocab, model.config().vocab_size)};
  }
  if (!reference.find(kMtpPost) && !reference.find(kMtpPre)) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the reference has neither {} nor {} (python/stage_dump.py says who "
                             "writes them)",
                             kMtpPost, kMtpPre)};
  }
  LOCKSTEP_ASSIGN_OR_RETURN(DraftRecord record, record_drafts(model, context, reference.ids,
                                                              reference.positions, progress));
  LOCKSTEP_ASSIGN_OR_RETURN(Comparison comparison, compare_dumps(record.dump, reference));
  return MtpResult{std::move(comparison), record.acceptance};
}

void judge_mtp(const MtpResult& result, Report& report) {
  const AccuracyGoal* goal = find_goal("backend=cpu precision=full");
  for (const LogitError& logits : result.comparison.logits) {
    hold_to_goal(report, fmt::format("{}: logits", logits.name), logits.worst, goal->logits.value(),
                 "");
    judge_choices(logits, report);
  }
}

}  // namespace lockstep::verify
