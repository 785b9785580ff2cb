#include "text/reply/stop_strings.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

// Length of the longest end of `text` that is a proper start of `stop`.
size_t partial_length(std::string_view text, std::string_view stop) {
  for (size_t length = std::min(text.size(), stop.size() - 1); length > 0; --length) {
    if (stop.starts_with(text.substr(text.size() - length))) return length;
  }
  return 0;
}

}  // namespace

std::string StopStrings::push(std::string_view text) {
  if (hit_) return {};
  pending_ += text;
  // The hit is the one that is complete first, as if the text came byte by byte.
  size_t first_end = std::string::npos;
  size_t shown_end = 0;
  size_t held = 0;
  for (const std::string& stop : stops_) {
    held = std::max(held, partial_length(pending_, stop));
    const size_t at = pending_.find(stop);
    if (at == std::string::npos) continue;
    const size_t end = at + stop.size();
    if (end > first_end || (end == first_end && at >= shown_end)) continue;
    first_end = end;
    shown_end = at;
    hit_ = stop;
  }
  if (!hit_) shown_end = pending_.size() - held;
  std::string shown = pending_.substr(0, shown_end);
  pending_.erase(0, shown_end);
  return shown;
}

std::string StopStrings::finish() { return hit_ ? std::string() : std::exchange(pending_, {}); }

}  // namespace lockstep
