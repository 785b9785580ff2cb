#include "runtime/prompt_cache/save_points.h"

#include <algorithm>
#include <cstdlib>

namespace lockstep {

const char* to_string(SaveKind kind) {
  switch (kind) {
    case SaveKind::kSystem:
      return "system";
    case SaveKind::kUserTurn:
      return "user turn";
    case SaveKind::kBeforeThinking:
      return "before thinking";
    case SaveKind::kPromptEnd:
      return "prompt end";
    case SaveKind::kReplyEnd:
      return "reply end";
    case SaveKind::kParting:
      return "parting";
    case SaveKind::kInterval:
      return "interval";
  }
  return "?";
}

std::vector<SavePoint> plan_save_points(int64_t prompt_length, int64_t resumed,
                                        std::span<const SavePoint> marks,
                                        std::optional<int64_t> parted, const SavePolicy& policy) {
  std::vector<SavePoint> points;
  // Adds a point unless another lies nearer than `gap`; the state resumed from counts as one.
  const auto add = [&](SavePoint point, int64_t gap) {
    const bool inside = point.length > resumed && point.length < prompt_length;
    if (!inside || point.length < policy.min_tokens) return;
    const bool near =
        point.length - resumed < gap ||
        std::any_of(
            points.begin(), points.end(),
            [&](const SavePoint& other) { return std::abs(other.length - point.length) < gap; });
    if (!near) points.push_back(point);
  };
  for (const SavePoint& mark : marks) add(mark, 1);
  add({prompt_length - 1, SaveKind::kPromptEnd}, 1);
  if (parted) add({*parted, SaveKind::kParting}, policy.min_gain);
  const int64_t first = resumed / policy.interval + 1;
  for (int64_t n = first; n * policy.interval < prompt_length; ++n) {
    add({n * policy.interval, SaveKind::kInterval}, policy.min_gain);
  }
  std::sort(points.begin(), points.end(),
            [](const SavePoint& a, const SavePoint& b) { return a.length < b.length; });
  return points;
}

}  // namespace lockstep
