#include "runtime/draft/copy_drafter.h"

#include <algorithm>

namespace lockstep {
namespace {

constexpr int32_t kNoId = -1;
constexpr int64_t kNowhere = -1;

}  // namespace

CopyDrafter::CopyDrafter(std::span<const int32_t> prediction)
    : prediction_(static_cast<int64_t>(prediction.size())) {
  for (const int32_t id : prediction) add(id);
  add(kNoId);
}

void CopyDrafter::add(int32_t id) {
  ids_.push_back(id);
  earlier_.push_back(kNowhere);
  const auto end = static_cast<int64_t>(ids_.size());
  if (end < kLeastMatch) return;
  uint64_t key = 0;
  for (auto at = ids_.end() - kLeastMatch; at != ids_.end(); ++at) {
    key = (key ^ static_cast<uint32_t>(*at)) * 0x9E3779B97F4A7C15u;
    key ^= key >> 29;
  }
  // Two keys that meet by chance cost a look, no more: the ids themselves are compared.
  const auto [place, is_new] = last_.try_emplace(key, end);
  if (is_new) return;
  earlier_.back() = place->second;
  place->second = end;
}

// Ids before `end` that agree with those at the end of all.
int64_t CopyDrafter::match_before(int64_t end) const {
  const auto size = static_cast<int64_t>(ids_.size());
  int64_t match = 0;
  while (match < kMostMatch && match < end) {
    const int32_t id = ids_[static_cast<size_t>(end - 1 - match)];
    if (id == kNoId || id != ids_[static_cast<size_t>(size - 1 - match)]) break;
    ++match;
  }
  return match;
}

bool CopyDrafter::follows_prediction(std::span<const int32_t> reply) const {
  return static_cast<int64_t>(reply.size()) < prediction_ &&
         std::equal(reply.begin(), reply.end(), ids_.begin());
}

CopyDrafter::Copy CopyDrafter::propose(std::span<const int32_t> text, int64_t reply_begin,
                                       int64_t most) {
  for (auto next = static_cast<size_t>(std::ssize(ids_) - prediction_ - 1); next < text.size();
       ++next) {
    add(text[next]);
  }
  Copy copy;
  int64_t from = kNowhere;
  int64_t place = earlier_.back();
  for (int i = 0; i < kMostPlaces && place != kNowhere && copy.match < kMostMatch; ++i) {
    const int64_t match = match_before(place);
    if (match >= kLeastMatch && match > copy.match) {
      copy.match = match;
      from = place;
    }
    place = earlier_[static_cast<size_t>(place - 1)];
  }
  if (from == kNowhere) {
    const auto reply = text.subspan(static_cast<size_t>(reply_begin));
    if (!follows_prediction(reply)) return copy;
    from = std::ssize(reply);
  }
  // A copy that reaches the end of the text goes on with itself.
  const auto size = static_cast<int64_t>(ids_.size());
  for (int64_t i = 0; i < most; ++i) {
    const int64_t at = from + i;
    const int32_t id =
        at < size ? ids_[static_cast<size_t>(at)] : copy.ids[static_cast<size_t>(at - size)];
    if (id == kNoId) break;
    copy.ids.push_back(id);
  }
  return copy;
}

}  // namespace lockstep
