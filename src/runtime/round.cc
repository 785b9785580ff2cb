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

}  // namespace

Round::Round(ForwardPass& pass, ThreadPool& pool, FaultHook fault, SnapshotSink sink,
             HiddenSink hidden)
    : pass_(pass),
      pool_(pool),
      fault_(std::move(fault)),
      sink_(std::move(sink)),
      hidden_(std::move(hidden)),
      scratch_(static_cast<size_t>(pool.threads())) {}

Status Round::ask(RoundPhase phase, const Stream& stream) const {
  return fault_ ? fault_(phase, stream.group->mailbox->request(), stream.reply) : Status();
}

Error Round::numeric_fault(const RowFault& fault, const Part& part) const {
  const Model& model = pass_.model();
  const auto tensor = find_broken_tensor(model.checkpoint(), fault.layer);
  return {ErrorCode::kNumeric,
          fmt::format("{} gave a value that is not finite at position {} (token id {}): {}",
                      place_of(fault, model.config()),
                      part.stream->state->position() + fault.row - part.first_row,
                      batch_.ids[static_cast<size_t>(fault.row)],
                      tensor ? fmt::format("{} holds NaN or infinity", *tensor)
                             : "no weight of this layer does, so the computation overflowed")};
}

void Round::add_part(const Grant& grant, Part& part) {
  Stream& stream = *grant.stream;
  const int64_t position = stream.state->position();
  const int64_t drafts = std::max<int64_t>(0, grant.rows - stream.pending());
  const int64_t rows = grant.rows - drafts;
  const bool last = rows == stream.pending();
  part.stream = &stream;
  part.rows = grant.rows;
  part.drafts = drafts;
  part.first_row = batch_.rows();
  part.logit_row.reset();
  part.scores.clear();
  part.marks.clear();
  part.status = {};
  part.draft_fault.reset();
  part.sampler.reset();
  part.tokens.clear();
  part.draws = 0;
  part.failure.reset();
  part.finish.reset();
  part.stop_id.reset();
  for (const SavePoint& save : stream.saves) {
    if (save.length > position && save.length < position + rows) {
      part.marks.push_back({.position = save.length});
    }
  }
  const auto begin = stream.ids.begin() + position;
  batch_.ids.insert(batch_.ids.end(), begin, begin + rows);
  part.score_row = batch_.logit_rows.size();
  const int64_t last_scored = std::min(position + rows, stream.last_unscored());
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
  LOCKSTEP_CHECK(drafts < std::max<int64_t>(1, stream.left()), "drafts beyond the reply's end");
  for (int64_t i = 0; i < drafts; ++i) {
    batch_.ids.push_back(stream.drafts.ids[static_cast<size_t>(i)]);
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
    batch_.segments.push_back({.sequence = part.stream->state.get(),
                               .rows = part.rows,
                               .window = part.drafts > 0 ? part.stream->window.get() : nullptr,
                               .marks = part.marks});
  }
}

Result<RoundOutput> Round::forward() {
  for (const Part& part : parts_) {
    LOCKSTEP_RETURN_IF_ERROR(ask(RoundPhase::kForward, *part.stream));
  }
  return pass_.forward(batch_);
}

void Round::run_alone(std::span<const Grant> grants, const Error& error, RoundSeconds& seconds) {
  const auto without_drafts = [](const Grant& grant) {
    return Grant{grant.stream, std::min(grant.rows, grant.stream->pending())};
  };
  if (grants.size() == 1 && without_drafts(grants.front()).rows == grants.front().rows) {
    grants.front().stream->fail(error);
    return;
  }
  for (const Grant& grant : grants) {
    const Grant own = without_drafts(grant);
    const RoundSeconds spent = run({&own, 1});
    seconds.pass += spent.pass;
    seconds.draw += spent.draw;
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
  commit(output.value());
  seconds.pass += seconds_since(committing);
  row_seconds_ = seconds.pass / static_cast<double>(batch_.rows());
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
    if (!part.status.ok() || part.draft_fault) continue;
    if (fault.row < part.first_row + part.rows - part.drafts) {
      part.status = numeric_fault(fault, part);
    } else {
      part.draft_fault = fault;
    }
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
      const auto rows = static_cast<size_t>(1 + part.drafts);
      draw_window(output.logits.subspan(*part.logit_row * vocab, rows * vocab), part,
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

// Row after row, for as long as the drafts are what is drawn: a draft is right exactly if it equals
// the draw that serial decoding makes, so that no token tells whether there were any.
void Round::draw_window(std::span<const float> logits, Part& part, SamplerScratch& scratch) const {
  const Stream& stream = *part.stream;
  part.status = ask(RoundPhase::kDraw, stream);
  if (!part.status.ok()) return;
  const size_t vocab = logits.size() / static_cast<size_t>(1 + part.drafts);
  part.sampler = stream.sampler;
  for (int64_t i = 0; i <= part.drafts; ++i) {
    const int64_t row = part.first_row + part.rows - part.drafts - 1 + i;
    if (part.draft_fault && part.draft_fault->row <= row) {
      part.failure = numeric_fault(*part.draft_fault, part);
      return;
    }
    const Status drawn =
        draw_one(logits.subspan(static_cast<size_t>(i) * vocab, vocab), part, scratch);
    if (!drawn.ok()) part.failure = drawn.error();
    if (!drawn.ok() || part.finish) return;
    const bool right =
        i < part.drafts && part.tokens.back().id == stream.drafts.ids[static_cast<size_t>(i)];
    if (!right) return;
  }
}

// The next token of the part, on a copy of the sampler, which commit adopts (docs/numerics.md, rule
// 26).
Status Round::draw_one(std::span<const float> logits, Part& part, SamplerScratch& scratch) const {
  const Stream& stream = *part.stream;
  const Request& request = stream.group->request;
  ReplyToken token = {.position = stream.size() + std::ssize(part.tokens)};
  LOCKSTEP_ASSIGN_OR_RETURN(token.id, part.sampler->draw(logits, token.position, scratch));
  if (std::ranges::find(request.stop_ids, token.id) != request.stop_ids.end()) {
    ++part.draws;
    part.finish = FinishReason::kStop;
    part.stop_id = token.id;
    return {};
  }
  part.sampler->accept(token.id, logits);
  if (request.top_logprobs) {
    LOCKSTEP_ASSIGN_OR_RETURN(token.logprobs,
                              log_probabilities(logits, token.id, *request.top_logprobs));
  }
  ++part.draws;
  part.tokens.push_back(std::move(token));
  return {};
}

Result<TokenVerdict> Round::ask_check(const Stream& stream, int32_t id) const {
  const Request& request = stream.group->request;
  try {
    return request.check ? request.check(stream.reply, id) : TokenVerdict{};
  } catch (const std::exception& error) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the check of a token failed: {}", error.what())};
  }
}

// Decides the end of the reply before anything is committed (docs/numerics.md, rule 23).
void Round::judge(Part& part) const {
  if (!part.status.ok()) return;
  const Stream& stream = *part.stream;
  if (!part.tokens.empty()) part.status = ask(RoundPhase::kCheck, stream);
  if (!part.status.ok()) return;
  for (size_t i = 0; i < part.tokens.size(); ++i) {
    const Result<TokenVerdict> verdict = ask_check(stream, part.tokens[i].id);
    const bool fails = !verdict.ok();
    const bool stops = !fails && (verdict.value().stop || !verdict.value().keep);
    const bool is_last = stream.drawn() + static_cast<int64_t>(i) + 1 == stream.group->limit;
    if (!fails && !stops && !is_last) continue;
    // What comes after it was never drawn.
    part.failure.reset();
    part.stop_id.reset();
    part.finish.reset();
    part.draws = static_cast<int64_t>(i) + (fails ? 0 : 1);
    part.tokens.resize(i + (fails || !verdict.value().keep ? 0 : 1));
    if (fails) {
      part.failure = verdict.error();
    } else {
      part.finish = stops ? FinishReason::kStop : FinishReason::kLength;
    }
    break;
  }
  // Nothing came before it: the stream ends as it stands.
  if (part.failure && part.draws == 0) part.status = *part.failure;
}

void Round::commit(const RoundOutput& output) {
  const auto width = static_cast<size_t>(pass_.model().config().hidden_size);
  accepted_.clear();
  for (Part& part : parts_) {
    if (part.status.ok()) part.status = ask(RoundPhase::kCommit, *part.stream);
    const int64_t rows = part.status.ok() ? part.right_rows() : 0;
    accepted_.push_back(rows);
    if (!hidden_ || rows == 0) continue;
    hidden_(*part.stream, part.stream->state->position(),
            output.hidden.subspan(static_cast<size_t>(part.first_row) * width,
                                  static_cast<size_t>(rows) * width));
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
  note_draws(part);
  if (!part.tokens.empty()) stream.sampler = *std::move(part.sampler);
  for (ReplyToken& token : part.tokens) {
    stream.ids.push_back(token.id);
    stream.put({stream.reply, std::move(token)});
  }
  if (part.finish) stream.finish(*part.finish, part.stop_id);
  if (part.failure) stream.fail(*std::move(part.failure));
}

void Round::note_draws(const Part& part) const {
  Stream& stream = *part.stream;
  if (stream.drawn() == 0) {
    if (part.logit_row) stream.first_token = Clock::now();
    return;
  }
  ++stream.timings.decode_rounds;
  stream.timings.decode_draws += part.draws;
  if (part.drafts == 0) return;
  // Drafts after one that was wrong, and after the reply's end, were not right.
  const int64_t right = std::min(part.drafts, std::max<int64_t>(0, part.draws - 1));
  stream.timings.drafts.at(stream.drafts.kind).add(part.drafts, right);
  stream.timings.drafts.verify_seconds += row_seconds_ * static_cast<double>(part.drafts);
  stream.drafts.learn(part.drafts, right);
}

}  // namespace lockstep
