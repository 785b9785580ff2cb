#include "runtime/draft/head_drafter.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace lockstep {

HeadDrafter::HeadDrafter(ForwardPass& pass, std::shared_ptr<PagePool> pages)
    : pass_(pass),
      pages_(std::move(pages)),
      hidden_size_(pass.model().config().hidden_size),
      vocab_(static_cast<size_t>(pass.model().config().vocab_size)) {}

std::unique_ptr<SequenceState> HeadDrafter::take_state() {
  if (free_.empty()) {
    return std::make_unique<SequenceState>(pass_.model().draft_state_shape(), pages_);
  }
  std::unique_ptr<SequenceState> state = std::move(free_.back());
  free_.pop_back();
  return state;
}

int64_t HeadDrafter::behind(const HeadState& head) const {
  return std::ssize(head.hidden) / hidden_size_;
}

void HeadDrafter::follow(HeadState& head, int64_t position, std::span<const float> hidden) {
  if (head.state == nullptr) head.state = take_state();
  if (head.first + behind(head) != position) {
    head.state->clear();
    head.hidden.clear();
    head.first = position;
  }
  head.hidden.insert(head.hidden.end(), hidden.begin(), hidden.end());
}

void HeadDrafter::forget(HeadState& head) {
  head.hidden.clear();
  head.first = 0;
  if (head.state == nullptr) return;
  head.state->clear();
  free_.push_back(std::move(head.state));
}

std::shared_ptr<const DraftContext> HeadDrafter::snapshot(const HeadState& head,
                                                          int64_t position) const {
  const int64_t rows = position - head.first;
  if (head.state == nullptr || rows < 0 || rows > behind(head)) return nullptr;
  return std::make_shared<const DraftContext>(
      DraftContext{head.state->snapshot(),
                   {head.hidden.begin(), head.hidden.begin() + rows * hidden_size_},
                   head.first});
}

void HeadDrafter::restore(HeadState& head, const DraftContext& context) {
  if (head.state == nullptr) head.state = take_state();
  head.state->assign(context.state);
  head.hidden = context.hidden;
  head.first = context.first;
}

Status HeadDrafter::draft(std::span<const Ask> asks) {
  Status status = read_behind(asks);
  int64_t deepest = 0;
  for (const Chain& chain : chains_) deepest = std::max(deepest, chain.ask->depth);
  for (int64_t step = 1; step < deepest && status.ok(); ++step) status = chain(step);
  for (Chain& chain : chains_) chain.ask->head->state->truncate(chain.committed);
  if (status.ok()) return {};
  for (const Ask& ask : asks) {
    forget(*ask.head);
    if (ask.drafts != nullptr) ask.drafts->clear();
  }
  return status;
}

// The trunk's rows, in as few passes as they fit into. The last one of an ask gives its first
// draft.
Status HeadDrafter::read_behind(std::span<const Ask> asks) {
  chains_.clear();
  chains_.reserve(asks.size());  // segments of a batch point to them
  chain_rows_.resize(asks.size() * static_cast<size_t>(hidden_size_));
  std::vector<BatchSegment> segments;
  std::vector<Chain*> logits_of;
  const auto flush = [&]() -> Status {
    if (segments.empty()) return {};
    const Status status = run_batch(segments, logits_of);
    segments.clear();
    logits_of.clear();
    return status;
  };
  for (const Ask& ask : asks) {
    HeadState& head = *ask.head;
    const int64_t rows = behind(head);
    LOCKSTEP_CHECK(head.first + rows < std::ssize(ask.ids),
                   "a hidden row without a token after it");
    for (int64_t done = 0; done < rows;) {
      const int64_t room = pass_.limits().rows - std::ssize(ids_);
      const bool full = room == 0 || std::ssize(logits_of) == pass_.limits().logit_rows;
      if (full || (done > 0 && !segments.empty())) {
        LOCKSTEP_RETURN_IF_ERROR(flush());
        continue;
      }
      const int64_t count = std::min(room, rows - done);
      segments.push_back({.sequence = head.state.get(), .rows = count});
      const auto from = head.hidden.begin() + done * hidden_size_;
      hidden_.insert(hidden_.end(), from, from + count * hidden_size_);
      const auto next = ask.ids.begin() + head.first + done + 1;
      ids_.insert(ids_.end(), next, next + count);
      done += count;
      if (done < rows || ask.depth == 0) continue;
      chains_.push_back({.ask = &ask, .sampler = *ask.sampler});
      logits_of.push_back(&chains_.back());
      logit_rows_.push_back(std::ssize(ids_) - 1);
    }
    head.first += rows;
    head.hidden.clear();
  }
  LOCKSTEP_RETURN_IF_ERROR(flush());
  for (Chain& chain : chains_) chain.committed = chain.ask->head->state->position();
  return {};
}

// Runs hidden_, ids_ and logit_rows_, and draws a draft from each row of logits.
Status HeadDrafter::run_batch(std::span<const BatchSegment> segments,
                              std::span<Chain* const> logits_of) {
  const Result<DraftOutput> output = pass_.draft({.segments = segments,
                                                  .hidden = hidden_,
                                                  .ids = ids_,
                                                  .logit_rows = logit_rows_,
                                                  .scored_ids = kScoredIds});
  if (output.ok()) {
    for (size_t i = 0; i < logits_of.size(); ++i) {
      Chain& chain = *logits_of[i];
      const auto row = output.value().hidden.begin() + logit_rows_[i] * hidden_size_;
      std::copy_n(row, hidden_size_,
                  chain_rows_.begin() + (&chain - chains_.data()) * hidden_size_);
      draw(output.value().logits.subspan(i * vocab_, vocab_), chain);
    }
  }
  hidden_.clear();
  ids_.clear();
  logit_rows_.clear();
  return output.ok() ? Status() : Status(output.error());
}

// As the reply's own token at that place would be drawn if the head's logits were the model's: the
// noise is the same, so that sampled replies accept drafts nearly as often as greedy ones.
void HeadDrafter::draw(std::span<const float> logits, Chain& chain) {
  std::vector<int32_t>& drafts = *chain.ask->drafts;
  const Result<int32_t> id =
      chain.sampler.draw(logits, std::ssize(chain.ask->ids) + std::ssize(drafts), scratch_);
  if (!id.ok()) {
    chain.ended = true;
    return;
  }
  chain.sampler.accept(id.value(), logits);
  drafts.push_back(id.value());
}

// The place `step` of every window that has one, from the head's own hidden rows.
Status HeadDrafter::chain(int64_t step) {
  std::vector<BatchSegment> segments;
  std::vector<Chain*> logits_of;
  for (size_t i = 0; i < chains_.size(); ++i) {
    Chain& chain = chains_[i];
    if (chain.ended || chain.ask->depth <= step) continue;
    if (std::ssize(segments) == std::min(pass_.limits().rows, pass_.limits().logit_rows)) break;
    const auto row = chain_rows_.begin() + static_cast<std::ptrdiff_t>(i) * hidden_size_;
    logit_rows_.push_back(std::ssize(ids_));
    hidden_.insert(hidden_.end(), row, row + hidden_size_);
    ids_.push_back(chain.ask->drafts->back());
    segments.push_back({.sequence = chain.ask->head->state.get(), .rows = 1});
    logits_of.push_back(&chain);
  }
  return segments.empty() ? Status() : run_batch(segments, logits_of);
}

}  // namespace lockstep
