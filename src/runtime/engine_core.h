// What the engine's thread does, step by step, without the thread: streams enter, run and leave.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "model/forward_pass.h"
#include "runtime/draft/head_drafter.h"
#include "runtime/engine_options.h"
#include "runtime/round.h"
#include "runtime/stream.h"

namespace lockstep {

class EngineCore {
 public:
  // The pass takes options.rules.rows rows and gives options.streams rows of logits.
  // `cache` may be null. Its states and those of the streams take their pages from `pages`, which
  // holds options.pages and what the cache may keep.
  EngineCore(ForwardPass& pass, ThreadPool& pool, const EngineOptions& options,
             std::shared_ptr<PagePool> pages, std::unique_ptr<PromptCache> cache);

  // Pages that the head's keys and values take.
  static int64_t head_pages(const EngineOptions& options, const Model& model);

  // All replies of a request join the end of the queue.
  void add(const std::shared_ptr<RequestGroup>& group);

  // Lets the cancelled go, lets others in and runs one round. False: there was nothing to do, and
  // nothing to be done until something is added.
  bool step();

  // Every reply ends, as cancelled or with the error.
  void cancel_all();
  void fail_all(const Error& error);

  const EngineFigures& figures() const { return figures_; }

 private:
  using StreamList = std::vector<std::unique_ptr<Stream>>;

  void drop_cancelled();
  void let_in();
  Status enter(Stream& stream);
  void start_from_kept_state(Stream& stream);
  void resume(Stream& stream, const SequenceState& kept);
  void attach_draft(const Stream& stream, SequenceState& snapshot) const;
  void plan_saves(Stream& stream, std::optional<int64_t> parted) const;
  bool uses_cache(const Stream& stream) const;
  bool cache_wants(const Stream& stream, int64_t length) const;
  int64_t free_pages() const;
  void draft();
  DraftBid propose(Stream& stream, int64_t most) const;
  double head_seconds() const;
  bool follows_head(const Stream& stream) const;
  void run_head();
  std::vector<int64_t> choose_drafts(int64_t replies);
  void take_drafts(Stream& stream, int64_t depth);
  int64_t most_drafts(const Stream& stream) const;
  void choose_grants();
  void make_room();
  bool cut_drafts();
  bool drop_forks();
  void preempt(size_t index);
  void run_round();
  void keep(Stream& stream, const SavePoint& point, SequenceState snapshot);
  void keep_end(const Stream& stream);
  void give_back_place(Stream& stream);
  void leave(Stream& stream);
  void sweep();
  void count();

  ForwardPass& pass_;
  EngineOptions options_;
  std::shared_ptr<PagePool> pages_;
  std::unique_ptr<PromptCache> cache_;  // null: none
  // That no stream has.
  std::vector<std::unique_ptr<SequenceState>> places_;
  std::vector<std::unique_ptr<WindowTrace>> windows_;
  std::unique_ptr<HeadDrafter> head_;  // null: the model has none, or nothing is drafted
  Round round_;
  CostModel costs_;
  CostModel head_costs_;  // of one place of the windows, by the windows
  double debt_ = 0.0;     // of prompts to replies, seconds
  ProbeBudget probes_;
  uint64_t arrivals_ = 0;
  uint64_t turns_ = 0;
  std::deque<std::unique_ptr<Stream>> waiting_;  // ascending arrival
  StreamList running_;
  // Reused memory of one step.
  std::vector<WaitingStream> waiting_view_;
  std::vector<RunningStream> running_view_;
  std::vector<Grant> grants_;
  std::vector<Stream*> drafted_;
  std::vector<DraftBid> bids_;
  std::vector<int64_t> depths_;
  EngineFigures figures_;
};

}  // namespace lockstep
