#include "runtime/engine_core.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "base/check.h"

namespace lockstep {
namespace {

// Rows of the trunk that the head reads at once where it does not draft.
constexpr int64_t kHeadChunk = 64;
// What one draft of the head costs, as a share of a round of one row, before it was measured.
constexpr double kHeadShare = 0.3;

int64_t pages_of(int64_t positions) { return (positions + kKvBlock - 1) / kKvBlock; }

// To read all tokens of the stream and begin what follows, a shared page copied.
int64_t pages_to_begin(const Stream& stream) { return pages_of(stream.size() + 1) + 1; }

}  // namespace

int64_t EngineOptions::least_pages(int64_t context) { return pages_of(context) + 1; }

// No stream, and no saved state, has more of them than of the trunk's, but for what is chained.
int64_t EngineCore::head_pages(const EngineOptions& options, const Model& model) {
  const uint64_t page = std::max<size_t>(1, model.state_shape().page_bytes());
  const uint64_t cached = options.cache ? options.cache->memory_bytes / page : 0;
  return options.pages + options.streams + static_cast<int64_t>(cached);
}

EngineCore::EngineCore(ForwardPass& pass, ThreadPool& pool, const EngineOptions& options,
                       std::shared_ptr<PagePool> pages, std::unique_ptr<PromptCache> cache)
    : pass_(pass),
      options_(options),
      pages_(std::move(pages)),
      cache_(std::move(cache)),
      head_(options.drafts > 0 && pass.limits().logit_rows > options.streams &&
                    pass.model().weights().mtp
                ? std::make_unique<HeadDrafter>(
                      pass, PagePool::make(pass.model().draft_state_shape().page_bytes(),
                                           head_pages(options, pass.model())))
                : nullptr),
      round_(
          pass, pool, options.fault,
          [this](Stream& stream, const SavePoint& point, SequenceState snapshot) {
            keep(stream, point, std::move(snapshot));
          },
          [this](Stream& stream, int64_t position, std::span<const float> hidden) {
            if (follows_head(stream)) head_->follow(stream.drafts.head, position, hidden);
          }) {
  LOCKSTEP_CHECK(options.rules.rows <= pass.limits().rows,
                 "rounds of more rows than the pass takes");
  LOCKSTEP_CHECK(options.streams <= pass.limits().logit_rows && options.streams >= 1 &&
                     options.streams <= options.rules.rows,
                 "a row of logits for each stream");
  LOCKSTEP_CHECK(options.pages >= EngineOptions::least_pages(options.context),
                 "pages for one stream at least");
}

void EngineCore::add(const std::shared_ptr<RequestGroup>& group) {
  group->unstarted = group->request.replies;
  for (int64_t reply = 0; reply < group->request.replies; ++reply) {
    SamplingSettings settings = group->mailbox->sampling();
    settings.reply_index += static_cast<uint32_t>(reply);
    const Request& request = group->request;
    Result<Sampler> sampler = Sampler::make(settings, pass_.model().config().vocab_size,
                                            request.prompt, request.constraint);
    LOCKSTEP_CHECK(sampler.ok(), "settings were checked when the request came");
    waiting_.push_back(
        std::make_unique<Stream>(group, reply, ++arrivals_, std::move(sampler).value()));
  }
  count();
}

bool EngineCore::step() {
  const auto start = Clock::now();
  drop_cancelled();
  let_in();
  draft();
  choose_grants();
  make_room();
  if (grants_.empty()) {
    sweep();
    count();
    LOCKSTEP_CHECK(waiting_.empty() || running_.empty(), "streams run, but none got a row");
    return !waiting_.empty();
  }
  run_round();
  sweep();
  figures_.round_seconds += std::chrono::duration<double>(Clock::now() - start).count();
  count();
  return true;
}

void EngineCore::drop_cancelled() {
  for (auto& stream : running_) {
    if (stream->group->is_cancelled()) stream->finish(FinishReason::kCancelled);
  }
  for (auto& stream : waiting_) {
    if (stream->group->is_cancelled()) stream->finish(FinishReason::kCancelled);
  }
  sweep();
}

// What the streams that run may come to without another one's leave. Snapshots do not count: they
// give way.
int64_t EngineCore::free_pages() const {
  int64_t free = options_.pages;
  for (const auto& stream : running_) {
    free -= std::max(stream->state->page_count(), pages_to_begin(*stream));
  }
  return free;
}

void EngineCore::let_in() {
  if (waiting_.empty()) return;
  waiting_view_.clear();
  for (const auto& stream : waiting_) {
    waiting_view_.push_back({.pages = pages_to_begin(*stream),
                             .held = !stream->started && stream->group->being_read,
                             .overtaken = stream->overtaken});
  }
  const int64_t places = options_.streams - static_cast<int64_t>(running_.size());
  const std::vector<size_t> entrants =
      choose_entrants(options_.rules, waiting_view_, places, free_pages());
  size_t entered = 0;
  for (size_t i = 0; i < waiting_.size() && entered < entrants.size(); ++i) {
    if (entrants[entered] != i) {
      waiting_[i]->overtaken += static_cast<int64_t>(entrants.size() - entered);
      continue;
    }
    ++entered;
    Stream& stream = *waiting_[i];
    // The stream before it may have begun to read the prompt for both.
    if (!stream.started && stream.group->being_read) continue;
    const Status status = enter(stream);
    if (!status.ok()) stream.fail(status.error());
    running_.push_back(std::move(waiting_[i]));
  }
  std::erase(waiting_, nullptr);
}

Status EngineCore::enter(Stream& stream) {
  if (options_.fault) {
    LOCKSTEP_RETURN_IF_ERROR(
        options_.fault(RoundPhase::kEnter, stream.group->mailbox->request(), stream.reply));
  }
  if (!places_.empty()) {
    stream.state = std::move(places_.back());
    places_.pop_back();
  } else {
    try {
      stream.state = std::make_unique<SequenceState>(pass_.model().state_shape(), pages_);
    } catch (const std::bad_alloc&) {
      return Error{ErrorCode::kOutOfMemory, "no memory for the recurrent state of a sequence"};
    }
  }
  start_from_kept_state(stream);
  return {};
}

bool EngineCore::uses_cache(const Stream& stream) const {
  return cache_ != nullptr && stream.group->request.use_cache;
}

bool EngineCore::cache_wants(const Stream& stream, int64_t length) const {
  const std::span<const int32_t> ids(stream.ids.data(), static_cast<size_t>(length));
  return uses_cache(stream) && cache_->wants(ids, stream.group->request.salt);
}

void EngineCore::resume(Stream& stream, const SequenceState& kept) {
  stream.state->assign(kept);
  if (kept.draft_context() == nullptr || !follows_head(stream)) return;
  head_->restore(stream.drafts.head, *kept.draft_context());
}

// With what the draft head keeps of it.
void EngineCore::attach_draft(const Stream& stream, SequenceState& snapshot) const {
  if (head_ == nullptr) return;
  snapshot.set_draft_context(head_->snapshot(stream.drafts.head, snapshot.position()));
}

void EngineCore::start_from_kept_state(Stream& stream) {
  RequestGroup& group = *stream.group;
  std::optional<int64_t> parted;
  const bool scores = stream.scored < stream.last_unscored();
  if (group.fork && !scores) {
    resume(stream, *group.fork);
  } else if (uses_cache(stream) && !scores) {
    const CacheLookup found = cache_->find(stream.ids, group.request.salt);
    if (found.state != nullptr) resume(stream, *found.state);
    parted = found.parted;
    if (!stream.started) stream.timings.cache_miss = found.reason;
  }
  plan_saves(stream, parted);
  if (stream.started) return;
  stream.started = true;
  stream.entered = Clock::now();
  stream.timings.queue_seconds =
      std::chrono::duration<double>(stream.entered - group.submitted).count();
  stream.timings.cached_tokens = stream.state->position();
  if (--group.unstarted == 0) {
    group.fork.reset();
  } else if (stream.state->position() < group.fork_position()) {
    group.being_read = true;
    stream.reads_for_group = true;
    const SavePoint fork = {.length = group.fork_position(), .kind = SaveKind::kPromptEnd};
    const auto place = std::ranges::lower_bound(stream.saves, fork.length, {}, &SavePoint::length);
    if (place == stream.saves.end() || place->length != fork.length) {
      stream.saves.insert(place, fork);
    }
  }
}

void EngineCore::plan_saves(Stream& stream, std::optional<int64_t> parted) const {
  stream.saves.clear();
  if (!uses_cache(stream)) return;
  stream.saves = plan_save_points(stream.size(), stream.state->position(),
                                  stream.group->request.marks, parted, options_.save_policy);
  std::erase_if(stream.saves,
                [&](const SavePoint& point) { return !cache_wants(stream, point.length); });
}

// A row runs a draft only if its logits can be seen and the token after it may still come.
int64_t EngineCore::most_drafts(const Stream& stream) const {
  return std::min({options_.drafts, stream.group->request.drafts, stream.left() - 1});
}

bool EngineCore::follows_head(const Stream& stream) const {
  return head_ != nullptr && stream.group->request.drafts > 0 && stream.group->limit > 1;
}

// Of one draft of one reply.
double EngineCore::head_seconds() const {
  if (!head_costs_.measured()) return kHeadShare * costs_.estimate(1);
  return head_costs_.estimate(1);
}

DraftBid EngineCore::propose(Stream& stream, int64_t most) const {
  const RequestGroup& group = *stream.group;
  if (options_.forced_drafts) {
    stream.drafts.ids =
        options_.forced_drafts(group.mailbox->request(), stream.reply, stream.ids, most);
    return {.most = std::ssize(stream.drafts.ids)};
  }
  const DraftBid copies =
      stream.drafts.propose_copies(stream.ids, group.prompt_size(), group.request.prediction, most);
  if (!follows_head(stream) || head_->behind(stream.drafts.head) == 0) return copies;
  const DraftBid head = stream.drafts.head_bid(most, head_seconds());
  if (copies.most > 0 && copies.survival[0] >= head.survival[0]) return copies;
  stream.drafts.choose_head();
  return head;
}

// Of each stream in drafted_. `replies`: the rows of the round without drafts, a token each.
std::vector<int64_t> EngineCore::choose_drafts(int64_t replies) {
  int64_t room =
      std::min(pass_.limits().logit_rows - options_.streams, options_.rules.rows - replies);
  if (options_.forced_drafts || options_.forced_depth > 0) {
    const int64_t most = options_.forced_depth > 0 ? options_.forced_depth : kMostDrafts;
    std::vector<int64_t> depths;
    for (const DraftBid& bid : bids_) {
      depths.push_back(std::min({bid.most, most, room}));
      room -= depths.back();
    }
    return depths;
  }
  std::vector<int64_t> depths = choose_depths(costs_, replies, replies, bids_, room);
  const bool none = std::ranges::all_of(depths, [](int64_t depth) { return depth == 0; });
  if (!none || room <= 0) return depths;
  const size_t probed = turns_ % depths.size();
  const double row = costs_.estimate(replies + 1) - costs_.estimate(replies);
  if (probes_.spend(row + bids_[probed].seconds)) depths[probed] = 1;
  return depths;
}

// Keeps the first `depth` of what was proposed, and what it takes to commit a part of a window.
void EngineCore::take_drafts(Stream& stream, int64_t depth) {
  std::vector<int32_t>& ids = stream.drafts.ids;
  ids.resize(std::min(ids.size(), static_cast<size_t>(depth)));
  if (ids.empty() || stream.window != nullptr) return;
  if (!windows_.empty()) {
    stream.window = std::move(windows_.back());
    windows_.pop_back();
    return;
  }
  try {
    stream.window = std::make_unique<WindowTrace>(pass_.model().config(), kMostWindowRows);
  } catch (const std::bad_alloc&) {
    stream.drafts.ids.clear();
  }
}

// Lets the head draft for the replies that chose it, and read what it is far behind with.
void EngineCore::run_head() {
  std::vector<HeadDrafter::Ask> asks;
  int64_t chains = 0;
  int64_t deepest = 0;
  int64_t behind = 0;
  for (size_t i = 0; i < drafted_.size(); ++i) {
    Stream& stream = *drafted_[i];
    if (stream.drafts.kind != DrafterKind::kHead || depths_[i] == 0) continue;
    asks.push_back({.head = &stream.drafts.head,
                    .ids = stream.ids,
                    .sampler = &stream.sampler,
                    .depth = depths_[i],
                    .drafts = &stream.drafts.ids});
    ++chains;
    deepest = std::max(deepest, depths_[i]);
  }
  for (const auto& stream : running_) {
    HeadState& head = stream->drafts.head;
    const bool asked = std::ranges::find(asks, &head, &HeadDrafter::Ask::head) != asks.end();
    if (asked || stream->end || head_->behind(head) < kHeadChunk) continue;
    asks.push_back({.head = &head, .ids = stream->ids});
  }
  if (asks.empty()) return;
  for (const HeadDrafter::Ask& ask : asks) behind += head_->behind(*ask.head);
  const auto start = Clock::now();
  // Without it replies go on a token at a time.
  const Status status = head_->draft(asks);
  // A prompt that was read is no part of what a draft costs.
  if (!status.ok() || chains == 0 || behind > chains * kMostWindowRows) return;
  const std::chrono::duration<double> seconds = Clock::now() - start;
  head_costs_.record(chains, seconds.count() / static_cast<double>(deepest));
}

// What each reply may go on with, and how much of it is worth a row.
void EngineCore::draft() {
  const auto start = Clock::now();
  drafted_.clear();
  bids_.clear();
  depths_.clear();
  int64_t replies = 0;
  for (const auto& stream : running_) {
    stream->drafts.ids.clear();
    if (stream->end || stream->is_reading()) continue;
    ++replies;
    const int64_t most = most_drafts(*stream);
    if (most <= 0) continue;
    const DraftBid bid = propose(*stream, most);
    if (bid.most == 0) continue;
    drafted_.push_back(stream.get());
    bids_.push_back(bid);
  }
  if (!drafted_.empty()) depths_ = choose_drafts(replies);
  if (head_ != nullptr) run_head();
  for (size_t i = 0; i < drafted_.size(); ++i) take_drafts(*drafted_[i], depths_[i]);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (Stream* stream : drafted_) {
    stream->timings.drafts.draft_seconds += seconds / static_cast<double>(drafted_.size());
  }
}

void EngineCore::choose_grants() {
  running_view_.clear();
  // Each stream has a row of logits; what the pass gives beyond is for rows that are scored.
  int64_t spare = pass_.limits().logit_rows - options_.streams;
  for (const auto& stream : running_) spare -= std::ssize(stream->drafts.ids);
  for (const auto& stream : running_) {
    int64_t rows = stream->end ? 0 : stream->pending() + std::ssize(stream->drafts.ids);
    if (rows > 0 && stream->first_unscored() < stream->last_unscored()) {
      rows = std::min(rows, 1 + spare);
      spare -= rows - 1;
    }
    running_view_.push_back({.rows = rows,
                             .reading = !stream->end && stream->is_reading(),
                             .last_served = stream->last_served});
  }
  const std::vector<int64_t> rows = choose_rows(options_.rules, costs_, running_view_, debt_);
  grants_.clear();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] > 0) grants_.push_back({running_[i].get(), rows[i]});
  }
}

// Takes pages from those who can do without them until the round has what it needs: first drafts,
// then states kept for replies that wait, then the youngest streams.
void EngineCore::make_room() {
  while (true) {
    int64_t needed = 0;
    for (const Grant& grant : grants_) needed += grant.stream->state->pages_needed(grant.rows);
    if (needed <= pages_->capacity() - pages_->taken()) return;
    if (cut_drafts() || drop_forks() || (cache_ != nullptr && cache_->release_one())) continue;
    std::vector<uint64_t> arrivals;
    for (const auto& stream : running_) arrivals.push_back(stream->arrival);
    const std::optional<size_t> victim = choose_victim(arrivals);
    LOCKSTEP_CHECK(victim.has_value(), "one stream alone has the pages of a whole context");
    preempt(*victim);
  }
}

bool EngineCore::cut_drafts() {
  bool cut = false;
  for (Grant& grant : grants_) {
    cut = cut || grant.rows > grant.stream->pending();
    grant.rows = std::min(grant.rows, grant.stream->pending());
  }
  return cut;
}

bool EngineCore::drop_forks() {
  bool dropped = false;
  for (const auto& stream : waiting_) {
    dropped = dropped || stream->group->fork.has_value();
    stream->group->fork.reset();
  }
  return dropped;
}

// The stream starts again from its tokens when there is room; its bits are the same.
void EngineCore::preempt(size_t index) {
  std::unique_ptr<Stream> stream = std::move(running_[index]);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  std::erase_if(grants_, [&](const Grant& grant) { return grant.stream == stream.get(); });
  give_back_place(*stream);
  ++figures_.preemptions;
  const auto behind = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& other) {
    return other->arrival > stream->arrival;
  });
  waiting_.insert(behind, std::move(stream));
}

void EngineCore::run_round() {
  ++figures_.rounds;
  int64_t reply_rows = 0;
  int64_t prompt_rows = 0;
  // In the order of their turns, so that those who share a round keep it.
  std::ranges::stable_sort(grants_, {}, [](const Grant& g) { return g.stream->last_served; });
  for (const Grant& grant : grants_) {
    (grant.stream->is_reading() ? prompt_rows : reply_rows) += grant.rows;
    grant.stream->last_served = ++turns_;
  }
  const RoundSeconds seconds = round_.run(grants_);
  const double total = seconds.pass + seconds.draw;
  probes_.earn(total);
  debt_ = next_debt(options_.rules, costs_, debt_, reply_rows, prompt_rows, total);
  costs_.record(reply_rows + prompt_rows, total);
  figures_.rows += reply_rows + prompt_rows;
  figures_.pass_seconds += seconds.pass;
  figures_.draw_seconds += seconds.draw;
}

void EngineCore::keep(Stream& stream, const SavePoint& point, SequenceState snapshot) {
  attach_draft(stream, snapshot);
  RequestGroup& group = *stream.group;
  const bool forks = stream.reads_for_group && point.length == group.fork_position();
  if (forks) {
    stream.reads_for_group = false;
    group.being_read = false;
    if (group.unstarted > 0) {
      group.fork = snapshot.snapshot();
      group.fork->set_draft_context(snapshot.draft_context());
    }
  }
  if (!cache_wants(stream, point.length)) return;
  cache_->save({stream.ids.data(), static_cast<size_t>(point.length)}, group.request.salt,
               point.kind, std::move(snapshot));
}

// An append to the conversation goes on from where the reply ends, or was left.
void EngineCore::keep_end(const Stream& stream) {
  if (stream.state == nullptr || !stream.end->status.ok()) return;
  const int64_t length = stream.state->position();
  if (!cache_wants(stream, length)) return;
  try {
    SequenceState snapshot = stream.state->snapshot();
    attach_draft(stream, snapshot);
    cache_->save({stream.ids.data(), static_cast<size_t>(length)}, stream.group->request.salt,
                 SaveKind::kReplyEnd, std::move(snapshot));
  } catch (const std::bad_alloc&) {
    // Then it is read again.
  }
}

void EngineCore::give_back_place(Stream& stream) {
  if (stream.reads_for_group) stream.group->being_read = false;
  stream.reads_for_group = false;
  if (head_ != nullptr) head_->forget(stream.drafts.head);
  if (stream.state == nullptr) return;
  stream.state->clear();
  places_.push_back(std::move(stream.state));
  if (stream.window != nullptr) windows_.push_back(std::move(stream.window));
}

void EngineCore::leave(Stream& stream) {
  keep_end(stream);
  if (options_.leave && stream.state != nullptr) {
    options_.leave(stream.group->mailbox->request(), stream.reply, *stream.state);
  }
  give_back_place(stream);
  figures_.drafts.add(stream.timings.drafts);
  RequestGroup& group = *stream.group;
  if (!stream.started && --group.unstarted == 0) group.fork.reset();
  stream.put({stream.reply, *std::move(stream.end)});
}

void EngineCore::sweep() {
  const auto has_left = [this](const std::unique_ptr<Stream>& stream) {
    if (!stream->end) return false;
    leave(*stream);
    return true;
  };
  std::erase_if(running_, has_left);
  std::erase_if(waiting_, has_left);
}

void EngineCore::cancel_all() {
  for (auto& stream : running_) stream->finish(FinishReason::kCancelled);
  for (auto& stream : waiting_) stream->finish(FinishReason::kCancelled);
  sweep();
  count();
}

void EngineCore::fail_all(const Error& error) {
  for (auto& stream : running_) stream->fail(error);
  for (auto& stream : waiting_) stream->fail(error);
  sweep();
  count();
}

void EngineCore::count() {
  figures_.running = static_cast<int64_t>(running_.size());
  figures_.waiting = static_cast<int64_t>(waiting_.size());
  figures_.pages_taken = pages_->taken();
  if (cache_ != nullptr) figures_.cache = cache_->counts();
}

}  // namespace lockstep
