// How a stream engine is set up, and what it tells about itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/sequence_state.h"
#include "runtime/draft/draft_counts.h"
#include "runtime/prompt_cache/prompt_cache.h"
#include "runtime/round.h"
#include "runtime/scheduler.h"

namespace lockstep {

// For tests: sees the state of a stream that had a place and ends, before it is given back.
using LeaveHook = std::function<void(uint64_t request, int64_t reply, const SequenceState& state)>;

// For tests: what is tried after `ids`, prompt and reply so far, `most` ids of it at the most; in
// place of what the drafters say and whatever it costs.
using ForcedDrafts = std::function<std::vector<int32_t>(
    uint64_t request, int64_t reply, std::span<const int32_t> ids, int64_t most)>;

struct EngineOptions {
  int64_t context = 0;  // positions of prompt and reply together
  int64_t streams = 1;  // replies in the making at one time
  // Of keys and values, for all streams together; at least least_pages(context). Streams that grow
  // beyond them together take each other's place: the youngest starts again later, from its tokens.
  int64_t pages = 0;
  std::optional<PromptCacheOptions> cache = std::nullopt;  // its memory comes on top of `pages`
  SavePolicy save_policy = {};
  SchedulerRules rules = {};
  // Of one window at the most, [0, kMostDrafts]; 0: no drafting. A pass must give rows of logits
  // beyond `streams` for them.
  int64_t drafts = kMostDrafts;
  FaultHook fault = nullptr;
  LeaveHook leave = nullptr;
  ForcedDrafts forced_drafts = nullptr;
  int64_t forced_depth =
      0;  // for tests: of every window that a drafter has so much for; 0: it pays

  // Enough for one stream of the whole context that shares its last page with a snapshot.
  static int64_t least_pages(int64_t context);
};

struct EngineFigures {
  int64_t running = 0;  // streams with a place
  int64_t waiting = 0;
  int64_t pages_taken = 0;
  int64_t rounds = 0;
  int64_t rows = 0;  // that were run in all rounds
  PromptCacheCounts cache;
  DraftCounts drafts;          // of the replies that have ended
  int64_t preemptions = 0;     // streams that lost their place and started again
  double round_seconds = 0.0;  // of all rounds, from the first decision to the last event
  double pass_seconds = 0.0;   // of these: in the model
  double draw_seconds = 0.0;   // of these: in samplers
};

}  // namespace lockstep
