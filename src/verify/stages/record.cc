#include "verify/stages/record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/crc32.h"
#include "model/forward_pass.h"

namespace lockstep::verify {
namespace {

class EngineRecorder {
 public:
  EngineRecorder(const Model& model, const CpuContext& context, std::span<const int32_t> ids,
                 std::span<const int32_t> positions)
      : model_(model),
        layers_(static_cast<int64_t>(model.config().layers.size())),
        ids_(ids),
        pass_(model, context, kRecordLimits),
        sequence_(model.state_shape()),
        draft_sequence_(model.draft_state_shape()) {
    record_.dump = begin_dump(model, ids, positions);
    record_.residual.resize(static_cast<size_t>(layers_ + 1));
    pass_.set_tap([this](std::string_view stage, int64_t layer, std::span<const float> data,
                         int64_t width) { keep(stage, layer, data, width); });
  }

  Result<EngineRecord> run(const Progress& progress) {
    LOCKSTEP_RETURN_IF_ERROR(run_in_rounds(ids_.size(), progress, [this](int64_t begin) {
      begin_ = begin;
      return run_chunk();
    }));
    return std::move(record_);
  }

 private:
  Status run_chunk() {
    const int64_t rows = std::min<int64_t>(kRecordLimits.rows, std::ssize(ids_) - begin_);
    const auto ids = ids_.subspan(static_cast<size_t>(begin_), static_cast<size_t>(rows));
    RowBatch batch;
    batch.segments = {{.sequence = &sequence_, .rows = rows}};
    batch.ids.assign(ids.begin(), ids.end());
    for (const int32_t position : record_.dump.positions) {
      if (position >= begin_ && position < begin_ + rows) {
        batch.logit_rows.push_back(position - begin_);
      }
    }
    LOCKSTEP_ASSIGN_OR_RETURN(const RoundOutput output, pass_.forward(batch));
    if (!output.faults.empty()) {
      const RowFault& fault = output.faults.front();
      return Error{ErrorCode::kNumeric,
                   fmt::format("a value that is not finite at position {}, in the stage {}",
                               begin_ + fault.row, stage_key(fault.site, fault.layer, layers_))};
    }
    pass_.commit(batch);
    return run_draft(output, batch.logit_rows);
  }

  // The rows of this chunk that a token follows.
  Status run_draft(const RoundOutput& output, std::vector<int64_t> logit_rows) {
    if (!model_.weights().mtp) return {};
    const auto after = ids_.subspan(static_cast<size_t>(begin_) + 1);
    const size_t rows = std::min(after.size(), static_cast<size_t>(kRecordLimits.rows));
    if (rows == 0) return {};
    while (!logit_rows.empty() && logit_rows.back() >= static_cast<int64_t>(rows)) {
      logit_rows.pop_back();
    }
    const auto width = static_cast<size_t>(model_.config().hidden_size);
    const BatchSegment segment = {.sequence = &draft_sequence_, .rows = static_cast<int64_t>(rows)};
    const auto done = pass_.draft({.segments = {&segment, 1},
                                   .hidden = output.hidden.first(rows * width),
                                   .ids = after.first(rows),
                                   .logit_rows = logit_rows});
    return done.ok() ? Status() : Status(done.error());
  }

  void keep(std::string_view stage, int64_t layer, std::span<const float> data, int64_t width) {
    if (stage == stages::kEmbed) append(record_.residual.front(), data);
    if (stage == stages::kLayer && layer < layers_) {
      append(record_.residual[static_cast<size_t>(layer + 1)], data);
    }
    if (stage == stages::kFinalNorm) append(record_.final_norm, data);
    StageRows& rows = record_.dump.at(stage_key(stage, layer, layers_), width);
    if (stage == stages::kLogits || stage == stages::kDraftLogits) return append(rows.data, data);
    const int64_t end = begin_ + static_cast<int64_t>(data.size()) / width;
    for (const int32_t position : record_.dump.positions) {
      if (position < begin_ || position >= end) continue;
      append(rows.data, data.subspan(static_cast<size_t>((position - begin_) * width),
                                     static_cast<size_t>(width)));
    }
  }

  static void append(std::vector<float>& to, std::span<const float> values) {
    to.insert(to.end(), values.begin(), values.end());
  }

  const Model& model_;
  int64_t layers_;
  std::span<const int32_t> ids_;
  ForwardPass pass_;
  SequenceState sequence_;
  SequenceState draft_sequence_;
  EngineRecord record_;
  int64_t begin_ = 0;  // position of the chunk's first row
};

}  // namespace

StageDump begin_dump(const Model& model, std::span<const int32_t> ids,
                     std::span<const int32_t> positions) {
  StageDump dump;
  dump.identity = {.producer = "lockstep " LOCKSTEP_VERSION,
                   .source = "engine",
                   .precision = model.precision_tuple(),
                   .weights = weights_checksum(model.checkpoint()),
                   .vocab = model.config().vocab_size};
  dump.ids.assign(ids.begin(), ids.end());
  dump.positions.assign(positions.begin(), positions.end());
  return dump;
}

std::string weights_checksum(const Checkpoint& checkpoint) {
  std::vector<const MappedFile*> files;
  for (const MappedFile& file : checkpoint.files) files.push_back(&file);
  std::sort(files.begin(), files.end(), [](const MappedFile* a, const MappedFile* b) {
    return std::filesystem::path(a->path()) < std::filesystem::path(b->path());
  });
  Crc32 crc;
  for (const MappedFile* file : files) crc.add(file->bytes());
  return fmt::format("{:08x}", crc.value());
}

Result<EngineRecord> record_engine(const Model& model, const CpuContext& context,
                                   std::span<const int32_t> ids, std::span<const int32_t> positions,
                                   const Progress& progress) {
  return EngineRecorder(model, context, ids, positions).run(progress);
}

}  // namespace lockstep::verify
