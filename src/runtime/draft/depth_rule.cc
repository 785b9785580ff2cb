#include "runtime/draft/depth_rule.h"

#include <algorithm>

#include "base/check.h"

namespace lockstep {
namespace {

// The bid whose next draft has the greatest chance; nullptr-like -1 if none has one.
int64_t best_next(std::span<const DraftBid> bids, std::span<const int64_t> depths) {
  int64_t best = -1;
  double chance = 0.0;
  for (size_t i = 0; i < bids.size(); ++i) {
    if (depths[i] == bids[i].most) continue;
    const double next = bids[i].survival[static_cast<size_t>(depths[i])];
    if (next <= chance) continue;
    chance = next;
    best = static_cast<int64_t>(i);
  }
  return best;
}

}  // namespace

std::vector<int64_t> choose_depths(const CostModel& costs, int64_t rows, int64_t tokens,
                                   std::span<const DraftBid> bids, int64_t room) {
  std::vector<int64_t> depths(bids.size(), 0);
  std::vector<int64_t> chosen = depths;
  if (!costs.measured() || rows == 0) return chosen;
  double expected = static_cast<double>(tokens);
  double drafting = 0.0;
  double best_rate = kLeastGain * expected / costs.estimate(rows);
  for (int64_t drafts = 1; drafts <= room; ++drafts) {
    const int64_t next = best_next(bids, depths);
    if (next < 0) break;
    const auto index = static_cast<size_t>(next);
    LOCKSTEP_CHECK(bids[index].most <= kMostDrafts, "more drafts than a window has");
    expected += bids[index].survival[static_cast<size_t>(depths[index])];
    drafting += bids[index].seconds;
    ++depths[index];
    const double rate = expected / (costs.estimate(rows + drafts) + drafting);
    if (rate <= best_rate) continue;
    best_rate = rate;
    chosen = depths;
  }
  return chosen;
}

bool ProbeBudget::spend(double seconds) {
  if (saved_ < seconds) return false;
  // What was saved over a long time is no reason for many probes at once.
  saved_ = std::min(saved_ - seconds, seconds);
  return true;
}

}  // namespace lockstep
