// Matching text that may not be whole yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep {

inline constexpr std::string_view kBlanks = " \t\r\n";

enum class Match : uint8_t {
  kNo,
  kMaybe,  // more text could make it one
  kYes,
};

// A step along a text that ends at an unknown place. After a step that did not match, further ones
// change nothing.
class TagMatcher {
 public:
  TagMatcher(std::string_view text, bool at_end) : text_(text), at_end_(at_end) {}

  TagMatcher& literal(std::string_view tag);
  // Any number of blanks, at most kMostBlanks.
  TagMatcher& blanks();
  // Characters up to the first `end`, which is stepped over: at least one, at most kMostName, no
  // line break and no angle bracket.
  TagMatcher& name(char end, std::string_view& found);

  Match match() const { return match_; }
  size_t length() const { return at_; }

 private:
  static constexpr size_t kMostBlanks = 64;
  static constexpr size_t kMostName = 256;

  std::string_view rest() const { return text_.substr(at_); }
  TagMatcher& ends_here();

  std::string_view text_;
  bool at_end_;
  size_t at_ = 0;
  Match match_ = Match::kYes;
};

// The best of several: kYes before kMaybe before kNo.
constexpr Match either(Match a, Match b) { return a > b ? a : b; }

}  // namespace lockstep
