// Texts that end a reply, wherever they fall across pieces.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

class StopStrings {
 public:
  // None of them empty.
  explicit StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // What of the text so far may be shown: neither a stop string nor what may be the start of one.
  // After a hit there is nothing more.
  std::string push(std::string_view text);
  // What was held back, which no stop string has become.
  std::string finish();

  // The string that was complete first; of several that end at one place the longest.
  const std::optional<std::string>& hit() const { return hit_; }

 private:
  std::vector<std::string> stops_;
  std::string pending_;
  std::optional<std::string> hit_;
};

}  // namespace lockstep
