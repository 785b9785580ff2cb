// A randomised run of the engine, each finished reply held bit by bit to the same request alone:
// many streams that share prompts, places and pages, with every way to leave and faults in every
// phase.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "runtime/draft/draft_counts.h"

namespace lockstep::testing {

// Vocabulary of the model, at least.
inline constexpr int64_t kSoakIds = 320;

struct SoakReport {
  int64_t episodes = 0;  // engines, each with rules and a load of its own
  int64_t requests = 0;
  int64_t equal = 0;      // replies that ended by themselves and are what they are alone
  int64_t cancelled = 0;  // replies cut short, held to what came of them
  int64_t faulted = 0;    // replies that ended by a planted fault
  int64_t resumed = 0;    // of all: began from state that was kept
  int64_t preemptions = 0;
  int64_t drafts = 0;                    // that were tried
  int64_t right = 0;                     // of these
  std::vector<std::string> differences;  // each with what repeats it

  // Every way to end, to begin and to lose one's pages was met.
  bool saw_everything() const {
    return equal > 0 && cancelled > 0 && faulted > 0 && resumed > 0 && preemptions > 0 &&
           right > 0 && right < drafts;
  }
  void add(const DraftCounts& counts);
  std::string text() const;
};

// One episode: a function of the seed but for the timing.
void soak_episode(const Model& model, uint64_t seed, SoakReport& report);

// Episodes of seed, seed + 1, ... until something differs or `seconds` are over; a slow build, as
// under a sanitizer, goes on up to twenty times as long until it saw everything.
SoakReport run_soak(const Model& model, uint64_t seed, double seconds);

}  // namespace lockstep::testing
