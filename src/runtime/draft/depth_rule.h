// How many drafts each reply's window gets: a pure function of what they promise and of what rows
// cost. No bit depends on it (docs/numerics.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cost_model.h"
#include "runtime/draft/acceptance.h"

namespace lockstep {

// What one reply could be drafted.
struct DraftBid {
  // By place: the chance that this draft and all before it are right; descending.
  std::array<double, kMostDrafts> survival = {};
  int64_t most = 0;      // drafts, at most kMostDrafts
  double seconds = 0.0;  // that making one more draft costs; 0: it is there
};

// Drafts must promise so much more tokens in a second than a round without any.
inline constexpr double kLeastGain = 1.02;

// Drafts of each bid, `room` in all at the most: those of the greatest chance, as many as give the
// most tokens in a second. `rows` and `tokens` are of the round without drafts.
std::vector<int64_t> choose_depths(const CostModel& costs, int64_t rows, int64_t tokens,
                                   std::span<const DraftBid> bids, int64_t room);

// A drafter that does not pay is tried again now and then, for a hundredth of the time.
class ProbeBudget {
 public:
  static constexpr double kShare = 0.01;

  // A round took so long.
  void earn(double seconds) { saved_ += kShare * seconds; }
  // Whether a probe of this cost may be made; pays for it.
  bool spend(double seconds);

 private:
  double saved_ = 0.0;
};

}  // namespace lockstep
