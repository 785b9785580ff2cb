#include "runtime/draft/draft_counts.h"

#include <numeric>

namespace lockstep {

const char* to_string(DrafterKind kind) {
  switch (kind) {
    case DrafterKind::kCopies:
      return "copies";
    case DrafterKind::kHead:
      return "head";
  }
  return "?";
}

void DrafterCounts::add(int64_t drafts, int64_t right) {
  ++windows;
  for (int64_t place = 0; place < drafts; ++place) {
    ++offered[static_cast<size_t>(place)];
    if (place < right) ++accepted[static_cast<size_t>(place)];
  }
}

int64_t DraftCounts::offered() const {
  int64_t sum = 0;
  for (const DrafterCounts& counts : of) {
    sum = std::accumulate(counts.offered.begin(), counts.offered.end(), sum);
  }
  return sum;
}

int64_t DraftCounts::accepted() const {
  int64_t sum = 0;
  for (const DrafterCounts& counts : of) {
    sum = std::accumulate(counts.accepted.begin(), counts.accepted.end(), sum);
  }
  return sum;
}

void DraftCounts::add(const DraftCounts& other) {
  for (size_t i = 0; i < of.size(); ++i) {
    of[i].windows += other.of[i].windows;
    for (size_t place = 0; place < of[i].offered.size(); ++place) {
      of[i].offered[place] += other.of[i].offered[place];
      of[i].accepted[place] += other.of[i].accepted[place];
    }
  }
  draft_seconds += other.draft_seconds;
  verify_seconds += other.verify_seconds;
}

}  // namespace lockstep
