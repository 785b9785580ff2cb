// How often drafts were right, by their place in a window: what the depth of the next window
// follows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lockstep {

inline constexpr int64_t kMostDrafts = 8;  // of one window
inline constexpr int64_t kMostWindowRows = 1 + kMostDrafts;

using DraftPlaces = std::array<int64_t, kMostDrafts>;  // a count for each place of a window

// Of one drafter in one stream or in several, forgetting as it goes on.
class Acceptance {
 public:
  // `first`: the share of right first drafts that is assumed before any was seen.
  explicit Acceptance(double first = 0.6) : first_(first) {}

  // A window of `offered` drafts, of which the first `right` were; offered >= right.
  void note(int64_t offered, int64_t right);

  // The chance that the drafts at places 0 to `place` are all right.
  double survival(int64_t place) const;

 private:
  static constexpr double kKept = 0.9;   // of what was seen, at each window
  static constexpr double kDoubt = 2.0;  // windows that the assumption counts as

  double first_;
  std::array<double, kMostDrafts> seen_ = {};
  std::array<double, kMostDrafts> right_ = {};
};

}  // namespace lockstep
