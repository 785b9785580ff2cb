// What drafting did for a reply, or for all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/draft/acceptance.h"

namespace lockstep {

enum class DrafterKind : uint8_t {
  kCopies,  // of the context, or of what the caller expects
  kHead,    // the checkpoint's draft head
};
inline constexpr size_t kDrafterKinds = 2;

// "copies", "head".
const char* to_string(DrafterKind kind);

struct DrafterCounts {
  int64_t windows = 0;        // rounds in which this drafter's ids were tried
  DraftPlaces offered = {};   // of these, by place in the window
  DraftPlaces accepted = {};  // equal to the token that was drawn

  void add(int64_t drafts, int64_t right);
};

struct DraftCounts {
  std::array<DrafterCounts, kDrafterKinds> of = {};  // by DrafterKind
  double draft_seconds = 0.0;                        // in making them
  double verify_seconds = 0.0;  // in the pass, by the share of its rows that were drafts

  DrafterCounts& at(DrafterKind kind) { return of[static_cast<size_t>(kind)]; }
  const DrafterCounts& at(DrafterKind kind) const { return of[static_cast<size_t>(kind)]; }
  void add(const DraftCounts& other);
  // Of all places and drafters.
  int64_t offered() const;
  int64_t accepted() const;
};

}  // namespace lockstep
