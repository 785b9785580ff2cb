#include "runtime/draft/stream_drafts.h"

#include <utility>

namespace lockstep {

size_t StreamDrafts::track_of(int64_t match) {
  if (match >= 12) return 2;
  return match == 0 || match >= 6 ? 1 : 0;
}

DraftBid StreamDrafts::bid_of(size_t track, int64_t most) const {
  DraftBid bid = {.most = most};
  for (int64_t place = 0; place < most; ++place) {
    bid.survival[static_cast<size_t>(place)] = acceptance_[track].survival(place);
  }
  return bid;
}

DraftBid StreamDrafts::head_bid(int64_t most, double seconds) const {
  DraftBid bid = bid_of(kHeadTrack, most);
  bid.seconds = seconds;
  return bid;
}

void StreamDrafts::choose_head() {
  ids.clear();
  kind = DrafterKind::kHead;
  track_ = kHeadTrack;
}

DraftBid StreamDrafts::propose_copies(std::span<const int32_t> text, int64_t reply_begin,
                                      std::span<const int32_t> prediction, int64_t most) {
  if (!copies_) copies_.emplace(prediction);
  CopyDrafter::Copy copy = copies_->propose(text, reply_begin, most);
  ids = std::move(copy.ids);
  kind = DrafterKind::kCopies;
  track_ = track_of(copy.match);
  return bid_of(track_, std::ssize(ids));
}

}  // namespace lockstep
