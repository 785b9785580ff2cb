#include "runtime/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/check.h"
#include "model/broken_tensor.h"

namespace lockstep {
namespace {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// "layer 3, attention"; stages before and after the layers have names that say so.
std::string place_of(const RowFault& fault, const ModelConfig& config) {
  const bool in_layer =
      fault.layer >= 0 && fault.layer < static_cast<int64_t>(config.layers.size());
  if (in_layer) return fmt::format("layer {}, {}", fault.layer, fault.site);
  return fmt::format("the stage {}", fault.site);
}

// `row` of the stream's rows in this round.
Error numeric_fault(const RowFault& fault, const Stream& stream, int64_t row, const Model& model) {
  const auto tensor = find_broken_tensor(model.checkpoint(), fault.layer);
  const int64_t position = stream.state->position() + row;
  return {ErrorCode::kNumeric,
          fmt::format("{} gave a value that is not finite at position {} (token id {}): {}",
                      place_of(fault, model.config()), position,
                      stream.ids[static_cast<size_t>(position)],
                      tensor ? fmt::format("{} holds NaN or infinity", *tensor)
                             : "no weight of this layer does, so the computation overflowed")};
}

}  // namespace

Round::Round(ForwardPass& pass, ThreadPool& pool, FaultHook fault, SnapshotSink sink)
    : pass_(pass),
      pool_(pool),
      fault_(std::move(fault)),
      sink_(std::move(sink)),
      scratch_(static_cast<size_t>(pool.threads())) {}

Status Round::ask(RoundPhase phase, const Stream& stream) const {
  return fault_ ? fault_(phase, stream.group->mailbox->request(), stream.reply) : Status();
}

void Round::add_part(const Grant& grant, Part& part) {
  Stream& stream = *grant.stream;
  const int64_t position = stream.state->position();
  const bool last = grant.rows == stream.pending();
  part.stream = &stream;
  part.rows = grant.rows;
  part.first_row = batch_.rows();
  part.logit_row.reset();
  part.scores.clear();
  part.marks.clear();
  part.status = {};
  part.sampler.reset();
  part.token.reset();
  part.finish.reset();
  part.stop_id.reset();
  for (const SavePoint& save : stream.saves) {
    if (save.length > position && save.length < position + grant.rows) {
      part.marks.push_back({.position = save.length});
    }
  }
  const auto begin = stream.ids.begin() + position;
  batch_.ids.insert(batch_.ids.end(), begin, begin + grant.rows);
  part.score_row = batch_.logit_rows.size();
  const int64_t last_scored = std::min(position + grant.rows, stream.last_unscored());
  for (int64_t row = stream.first_unscored(); row < last_scored; ++row) {
    batch_.logit_rows.push_back(part.first_row + row - position);
    part.scores.emplace_back();
  }
  if (!last) return;
  if (stream.group->limit == 0) {
    part.finish = FinishReason::kLength;  // only the prompt was wanted
  } else {
    part.logit_row = batch_.logit_rows.size();
    batch_.logit_rows.push_back(batch_.rows() - 1);
  }
}

void Round::build(std::span<const Grant> grants) {
  batch_.segments.clear();
  batch_.ids.clear();
  batch_.logit_rows.clear();
  parts_.resize(grants.size());
  for (size_t i = 0; i < grants.size(); ++i) {
    Part& part = parts_[i];
    add_part(grants[i], part);
    batch_.segments.push_back(
        {.sequence = part.stream->state.get(), .rows = part.rows, .marks = part.marks});
  }
}

Result<RoundOutput> Round::forward() {
  for (const Part& part : parts_) {
    LOCKSTEP_RETURN_IF_ERROR(ask(RoundPhase::kForward, *part.stream));
  }
  return pass_.forward(batch_);
}

void Round::run_alone(std::span<const Grant> grants, const Error& error, RoundSeconds& seconds) {
  if (grants.size() == 1) {
    grants.front().stream->fail(error);
    return;
  }
  for (const Grant& grant : grants) {
    const RoundSeconds own = run({&grant, 1});
    seconds.pass += own.pass;
    seconds.draw += own.draw;
  }
}

RoundSeconds Round::run(std::span<const Grant> grants) {
  RoundSeconds seconds;
  build(grants);
  const auto start = Clock::now();
  const Result<RoundOutput> output = forward();
  seconds.pass = seconds_since(start);
  if (!output.ok()) {
    run_alone(grants, output.error(), seconds);
    return seconds;
  }
  note_faults(output.value());
  const auto drawing = Clock::now();
  draw(output.value());
  seconds.draw = seconds_since(drawing);
  for (Part& part : parts_) judge(part);
  const auto committing = Clock::now();
  commit();
  seconds.pass += seconds_since(committing);
  for (Part& part : parts_) {
    if (part.status.ok()) save(part);
    publish(part);
  }
  return seconds;
}

void Round::note_faults(const RoundOutput& output) {
  size_t at = 0;
  for (const RowFault& fault : output.faults) {
    while (fault.row >= parts_[at].first_row + parts_[at].rows) ++at;
    Part& part = parts_[at];
    if (!part.status.ok()) continue;
    part.status = numeric_fault(fault, *part.stream, fault.row - part.first_row, pass_.model());
  }
}

// Each stream's draw is its own, so that threads share them; which thread never shows.
void Round::draw(const RoundOutput& output) {
  const auto vocab = static_cast<size_t>(pass_.model().config().vocab_size);
  pool_.run(static_cast<int64_t>(parts_.size()), [&](int64_t index, int thread) {
    Part& part = parts_[static_cast<size_t>(index)];
    try {
      if (part.status.ok()) score(output.logits, part);
      if (!part.logit_row || !part.status.ok()) return;
      draw_one(output.logits.subspan(*part.logit_row * vocab, vocab), part,
               scratch_[static_cast<size_t>(thread)]);
    } catch (const std::bad_alloc&) {
      part.status = Error{ErrorCode::kOutOfMemory, "no memory to draw a token"};
    }
  });
}

// How likely the prompt's own tokens are.
void Round::score(std::span<const float> logits, Part& part) const {
  const auto vocab = static_cast<size_t>(pass_.model().config().vocab_size);
  const Stream& stream = *part.stream;
  auto next = static_cast<size_t>(stream.first_unscored()) + 1;
  for (size_t i = 0; i < part.scores.size(); ++i, ++next) {
    Result<Logprobs> logprobs =
        log_probabilities(logits.subspan((part.score_row + i) * vocab, vocab), stream.ids[next],
                          *stream.group->request.prompt_logprobs);
    if (!logprobs.ok()) {
      part.status = logprobs.error();
      return;
    }
    part.scores[i] = std::move(logprobs).value();
  }
}

// On a copy of the sampler, which commit adopts (docs/numerics.md, rule 26).
void Round::draw_one(std::span<const float> logits, Part& part, SamplerScratch& scratch) const {
  const Stream& stream = *part.stream;
  part.status = ask(RoundPhase::kDraw, stream);
  if (!part.status.ok()) return;
  const Result<int32_t> id = stream.sampler.draw(logits, stream.size(), scratch);
  if (!id.ok()) {
    part.status = id.error();
    return;
  }
  const Request& request = stream.group->request;
  if (std::ranges::find(request.stop_ids, id.value()) != request.stop_ids.end()) {
    part.finish = FinishReason::kStop;
    part.stop_id = id.value();
    return;
  }
  part.sampler = stream.sampler;
  part.sampler->accept(id.value(), logits);
  ReplyToken& token = part.token.emplace();
  token.id = id.value();
  token.position = stream.size();
  if (!request.top_logprobs) return;
  Result<Logprobs> logprobs = log_probabilities(logits, token.id, *request.top_logprobs);
  if (logprobs.ok()) {
    token.logprobs = std::move(logprobs).value();
  } else {
    part.status = logprobs.error();
  }
}

// Decides the end of the reply before anything is committed (docs/numerics.md, rule 23).
void Round::judge(Part& part) const {
  if (!part.status.ok() || !part.token) return;
  const Stream& stream = *part.stream;
  part.status = ask(RoundPhase::kCheck, stream);
  if (!part.status.ok()) return;
  const Request& request = stream.group->request;
  TokenVerdict verdict;
  try {
    if (request.check) verdict = request.check(stream.reply, part.token->id);
  } catch (const std::exception& error) {
    part.status = Error{ErrorCode::kInvalidArgument,
                        fmt::format("the check of a token failed: {}", error.what())};
    return;
  }
  if (!verdict.keep) part.token.reset();
  if (verdict.stop || !verdict.keep) {
    part.finish = FinishReason::kStop;
  } else if (stream.drawn() + 1 == stream.group->limit) {
    part.finish = FinishReason::kLength;
  }
}

void Round::commit() {
  accepted_.clear();
  for (Part& part : parts_) {
    if (part.status.ok()) part.status = ask(RoundPhase::kCommit, *part.stream);
    accepted_.push_back(part.status.ok() ? part.rows : 0);
  }
  pass_.commit(batch_, accepted_);
}

// The points that the round passed: inside it from the marks, at its end from the state itself.
void Round::save(Part& part) {
  Stream& stream = *part.stream;
  const int64_t position = stream.state->position();
  std::vector<SavePoint>& saves = stream.saves;
  const auto end = std::ranges::upper_bound(saves, position, {}, &SavePoint::length);
  if (end == saves.begin()) return;
  part.status = ask(RoundPhase::kSave, stream);
  if (!part.status.ok()) return;
  try {
    auto mark = part.marks.begin();
    for (auto save = saves.begin(); save != end; ++save) {
      const bool inside = save->length < position;
      sink_(stream, *save,
            inside ? stream.state->snapshot(std::move(*mark++)) : stream.state->snapshot());
    }
  } catch (const std::bad_alloc&) {
    // What could not be kept is read again when it is wanted.
  }
  saves.erase(saves.begin(), end);
}

void Round::publish(Part& part) {
  Stream& stream = *part.stream;
  if (part.status.ok()) part.status = ask(RoundPhase::kPublish, stream);
  if (!part.status.ok()) {
    stream.fail(part.status.error());
    return;
  }
  for (Logprobs& logprobs : part.scores) {
    stream.put({stream.reply, PromptToken{++stream.scored, std::move(logprobs)}});
  }
  if (stream.drawn() > 0) {
    ++stream.timings.decode_rounds;
  } else if (part.logit_row) {
    stream.first_token = Clock::now();
  }
  if (part.token) {
    stream.sampler = *std::move(part.sampler);
    stream.ids.push_back(part.token->id);
    stream.put({stream.reply, *std::move(part.token)});
  }
  if (part.finish) stream.finish(*part.finish, part.stop_id);
}

}  // namespace lockstep
