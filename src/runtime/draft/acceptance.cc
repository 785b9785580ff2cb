#include "runtime/draft/acceptance.h"

#include "base/check.h"

namespace lockstep {

void Acceptance::note(int64_t offered, int64_t right) {
  LOCKSTEP_CHECK(right >= 0 && right <= offered && offered <= kMostDrafts, "a window that is none");
  for (size_t place = 0; place < seen_.size(); ++place) {
    seen_[place] *= kKept;
    right_[place] *= kKept;
  }
  // A draft after a wrong one says nothing.
  for (int64_t place = 0; place < offered && place <= right; ++place) {
    seen_[static_cast<size_t>(place)] += 1.0;
    if (place < right) right_[static_cast<size_t>(place)] += 1.0;
  }
}

// A place that was not seen is taken to be like the one before it.
double Acceptance::survival(int64_t place) const {
  double chance = first_;
  double all = 1.0;
  for (int64_t at = 0; at <= place; ++at) {
    const auto index = static_cast<size_t>(at);
    chance = (right_[index] + kDoubt * chance) / (seen_[index] + kDoubt);
    all *= chance;
  }
  return all;
}

}  // namespace lockstep
