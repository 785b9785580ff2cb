#include "verify/exact/player.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "verify/exact/state_parts.h"

namespace lockstep::verify {
namespace {

constexpr int64_t kMostWindowRows = 9;

// A token that does not belong there.
int32_t wrong_id(const Stream& stream, int64_t position, int64_t vocab) {
  const auto at = static_cast<size_t>(position);
  const int64_t own = at < stream.ids.size() ? stream.ids[at] : position;
  return static_cast<int32_t>((own + 1 + position * 7) % vocab);
}

std::vector<float> row_of(std::span<const float> data, int64_t row, int64_t width) {
  const auto part = data.subspan(static_cast<size_t>(row * width), static_cast<size_t>(width));
  return {part.begin(), part.end()};
}

const RowFault* fault_of(const RoundOutput& output, int64_t row) {
  const auto found = std::find_if(output.faults.begin(), output.faults.end(),
                                  [&](const RowFault& fault) { return fault.row == row; });
  return found == output.faults.end() ? nullptr : &*found;
}

}  // namespace

Player::Player(const Model& model, int threads, Isa isa, int64_t rows)
    : pool_(threads),
      pass_(model, {.pool = pool_, .isa = isa}, {.rows = rows, .logit_rows = rows}) {
  pass_.set_residual_edit(
      [this](int64_t layer, std::span<float> residual) { poison(layer, residual); });
}

Status Player::read_alone(Stream& stream) {
  stream.logits.assign(stream.ids.size(), {});
  const auto length = static_cast<int64_t>(stream.ids.size());
  const Schedule whole = chunked({&length, 1}, length);
  begin(whole, 1, std::nullopt);
  RowBatch batch;
  LOCKSTEP_ASSIGN_OR_RETURN(const RoundOutput output,
                            forward(std::get<Round>(whole.steps.front()), {&stream, 1}, batch));
  if (!output.faults.empty()) {
    const RowFault& fault = output.faults.front();
    return Error{ErrorCode::kNumeric,
                 fmt::format("layer {} gives a value that is not finite at position {}: there are "
                             "no bits to compare",
                             fault.layer, fault.row)};
  }
  const auto vocab = static_cast<size_t>(pass_.model().config().vocab_size);
  for (size_t row = 0; row < stream.logits.size(); ++row) {
    stream.logits[row] = hash_bits(output.logits.subspan(row * vocab, vocab));
  }
  pass_.commit(batch);
  stream.state = fingerprint(sequences_[0], pass_.model().config().layers);
  return {};
}

void Player::begin(const Schedule& schedule, size_t streams, std::optional<Watch> watch) {
  sequences_.clear();
  traces_.clear();
  marks_.clear();
  for (size_t i = 0; i < streams; ++i) {
    sequences_.emplace_back(pass_.model().state_shape());
    traces_.emplace_back();
    marks_.emplace_back();
  }
  poisoned_ = schedule.poisoned;
  watch_ = watch;
  watched_row_.reset();
  watched_.clear();
  pass_.set_tap(nullptr);
  if (!watch) return;
  pass_.set_tap([this](std::string_view stage, int64_t layer, std::span<const float> data,
                       int64_t width) { look(stage, layer, data, width); });
}

void Player::look(std::string_view stage, int64_t layer, std::span<const float> data,
                  int64_t width) {
  if (!watched_row_) return;
  watched_.push_back({std::string(stage), layer, row_of(data, *watched_row_, width)});
}

// Values of both kinds, in turn, from the embedding on.
void Player::poison(int64_t layer, std::span<float> residual) const {
  if (layer >= 0) return;
  const int64_t width = pass_.model().config().hidden_size;
  for (int64_t row = poisoned_begin_; row < poisoned_end_; ++row) {
    const float value = row % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                     : std::numeric_limits<float>::infinity();
    residual[static_cast<size_t>(row * width + row % width)] = value;
  }
}

Result<RoundOutput> Player::forward(const Round& round, std::span<const Stream> streams,
                                    RowBatch& batch) {
  const ModelConfig& config = pass_.model().config();
  watched_row_.reset();
  poisoned_begin_ = poisoned_end_ = 0;
  for (const Part& part : round.parts) {
    SequenceState& sequence = sequences_[part.stream];
    std::unique_ptr<WindowTrace>& trace = traces_[part.stream];
    const bool window = part.rows <= kMostWindowRows;
    if (window && !trace) trace = std::make_unique<WindowTrace>(config, kMostWindowRows);
    batch.segments.push_back(
        {.sequence = &sequence, .rows = part.rows, .window = window ? trace.get() : nullptr});
    if (part.mark) {
      StateMark& mark = marks_[part.stream];
      mark = {.position = sequence.position() + *part.mark};
      batch.segments.back().marks = {&mark, 1};
    }
    if (poisoned_ == part.stream) {
      poisoned_begin_ = batch.rows();
      poisoned_end_ = batch.rows() + part.rows;
    }
    for (int64_t i = 0; i < part.rows; ++i) {
      const int64_t position = sequence.position() + i;
      const Stream& stream = streams[part.stream];
      const bool right = i < part.right;
      if (right && watch_ && watch_->stream == part.stream && watch_->position == position) {
        watched_row_ = batch.rows();
        watched_.clear();
      }
      batch.ids.push_back(right ? stream.ids[static_cast<size_t>(position)]
                                : wrong_id(stream, position, config.vocab_size));
    }
  }
  batch.logit_rows.resize(batch.ids.size());
  std::iota(batch.logit_rows.begin(), batch.logit_rows.end(), int64_t{0});
  return pass_.forward(batch);
}

std::optional<Difference> Player::compare_row(const Part& part, const Stream& stream, int64_t index,
                                              int64_t row, const RoundOutput& output) const {
  const int64_t position = sequences_[part.stream].position() + index;
  const RowFault* fault = fault_of(output, row);
  const auto differs = [&](std::string text) {
    return Difference{part.stream, position, std::move(text)};
  };
  if (poisoned_ == part.stream) {
    if (fault == nullptr) return differs("a value that is not finite was not reported");
    return std::nullopt;
  }
  if (fault != nullptr) return differs(fmt::format("a fault in layer {}", fault->layer));
  const auto vocab = static_cast<size_t>(pass_.model().config().vocab_size);
  const auto logits = output.logits.subspan(static_cast<size_t>(row) * vocab, vocab);
  if (hash_bits(logits) == stream.logits[static_cast<size_t>(position)]) return std::nullopt;
  return differs("other logits");
}

void Player::compare(const Round& round, std::span<const Stream> streams, const RoundOutput& output,
                     Played& played) const {
  int64_t row = 0;
  for (const Part& part : round.parts) {
    for (int64_t i = 0; i < part.right && !played.difference; ++i) {
      played.difference = compare_row(part, streams[part.stream], i, row + i, output);
      ++played.rows;
    }
    row += part.rows;
  }
}

void Player::fork(const Fork& fork) {
  const SequenceState& from = sequences_[fork.from];
  sequences_[fork.to] =
      fork.at_mark ? from.snapshot(std::move(marks_[fork.from])) : from.snapshot();
}

Status Player::play_round(const Round& round, std::span<const Stream> streams, Played& played) {
  RowBatch batch;
  LOCKSTEP_ASSIGN_OR_RETURN(const RoundOutput output, forward(round, streams, batch));
  compare(round, streams, output, played);
  std::vector<int64_t> accepted;
  for (const Part& part : round.parts) accepted.push_back(part.commit ? part.right : 0);
  pass_.commit(batch, accepted);
  return {};
}

void Player::compare_states(std::span<const Stream> streams, Played& played) const {
  for (size_t i = 0; i < streams.size() && !played.difference; ++i) {
    if (poisoned_ == i) continue;
    if (fingerprint(sequences_[i], pass_.model().config().layers) == streams[i].state) continue;
    played.difference = Difference{i, std::nullopt, "another state at the end"};
  }
}

Result<Played> Player::play(const Schedule& schedule, std::span<const Stream> streams,
                            std::optional<Watch> watch) {
  begin(schedule, streams.size(), watch);
  Played played;
  for (const auto& step : schedule.steps) {
    if (const auto* forked = std::get_if<Fork>(&step)) {
      fork(*forked);
      continue;
    }
    LOCKSTEP_RETURN_IF_ERROR(play_round(std::get<Round>(step), streams, played));
    if (played.difference) break;
  }
  if (!played.difference) compare_states(streams, played);
  played.watched = std::move(watched_);
  return played;
}

}  // namespace lockstep::verify
