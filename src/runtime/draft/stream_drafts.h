// What drafting keeps for one reply.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/draft/copy_drafter.h"
#include "runtime/draft/depth_rule.h"
#include "runtime/draft/draft_counts.h"
#include "runtime/draft/head_drafter.h"

namespace lockstep {

class StreamDrafts {
 public:
  // Ids to follow the reply's last token: tried in the next round.
  std::vector<int32_t> ids;
  DrafterKind kind = DrafterKind::kCopies;  // whose they are

  HeadState head;

  // Asks for copies: what there is to try and what it promises, nothing being chosen yet.
  DraftBid propose_copies(std::span<const int32_t> text, int64_t reply_begin,
                          std::span<const int32_t> prediction, int64_t most);

  // What the head promises for `most` drafts, each of which takes `seconds`.
  DraftBid head_bid(int64_t most, double seconds) const;
  // The next drafts are the head's: none yet.
  void choose_head();

  // The first `right` of the `drafts` that were tried were drawn.
  void learn(int64_t drafts, int64_t right) { acceptance_[track_].note(drafts, right); }

 private:
  // A long match promises more than a short one: each class of lengths is counted for itself.
  static constexpr size_t kHeadTrack = 3;
  static size_t track_of(int64_t match);
  DraftBid bid_of(size_t track, int64_t most) const;

  std::optional<CopyDrafter> copies_;  // made when first asked
  size_t track_ = 0;
  std::array<Acceptance, kHeadTrack + 1> acceptance_ = {Acceptance(0.5), Acceptance(0.7),
                                                        Acceptance(0.9), Acceptance(0.7)};
};

}  // namespace lockstep
