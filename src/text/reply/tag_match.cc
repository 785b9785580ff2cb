#include "text/reply/tag_match.h"

#include <algorithm>

namespace lockstep {

TagMatcher& TagMatcher::ends_here() {
  match_ = at_end_ ? Match::kNo : Match::kMaybe;
  return *this;
}

TagMatcher& TagMatcher::literal(std::string_view tag) {
  if (match_ != Match::kYes) return *this;
  const size_t common = std::min(tag.size(), rest().size());
  if (rest().substr(0, common) != tag.substr(0, common)) {
    match_ = Match::kNo;
    return *this;
  }
  if (common < tag.size()) return ends_here();
  at_ += common;
  return *this;
}

TagMatcher& TagMatcher::blanks() {
  if (match_ != Match::kYes) return *this;
  const size_t count = std::min(rest().find_first_not_of(kBlanks), rest().size());
  if (count > kMostBlanks) {
    match_ = Match::kNo;
    return *this;
  }
  at_ += count;
  return *this;
}

TagMatcher& TagMatcher::name(char end, std::string_view& found) {
  if (match_ != Match::kYes) return *this;
  const std::string_view part = rest().substr(0, kMostName + 1);
  const size_t stop = part.find_first_of("<>\r\n");
  if (stop == std::string_view::npos && part.size() <= kMostName) return ends_here();
  if (stop == std::string_view::npos || stop == 0 || part[stop] != end) {
    match_ = Match::kNo;
    return *this;
  }
  found = part.substr(0, stop);
  at_ += stop + 1;
  return *this;
}

}  // namespace lockstep
