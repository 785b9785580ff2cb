// What a lookup says for a log.
#include <fmt/format.h>

#include "runtime/prompt_cache/prompt_cache.h"

namespace lockstep {

const char* to_string(MissReason reason) {
  switch (reason) {
    case MissReason::kNone:
      return "none";
    case MissReason::kBelowMinimum:
      return "below minimum";
    case MissReason::kEmpty:
      return "empty cache";
    case MissReason::kOtherSalt:
      return "other salt";
    case MissReason::kOtherPrecision:
      return "other precision tuple or checkpoint";
    case MissReason::kDamaged:
      return "damaged file";
    case MissReason::kNoMemory:
      return "no memory";
    case MissReason::kEvicted:
      return "evicted";
    case MissReason::kDiverged:
      return "diverged";
    case MissReason::kNoRowLeft:
      return "no row left";
    case MissReason::kNoSavePoint:
      return "no save point";
    case MissReason::kNewText:
      return "new text";
  }
  return "?";
}

std::string CacheLookup::describe(int64_t prompt_length) const {
  std::string text = fmt::format("{} of {} tokens resumed", length, prompt_length);
  if (state) text += fmt::format(" ({}, from {})", to_string(kind), from_disk ? "disk" : "memory");
  switch (reason) {
    case MissReason::kNone:
      return text;
    case MissReason::kDiverged:
      return text + fmt::format("; saved prompts differ from token {} on", matched);
    case MissReason::kNewText:
      return text + fmt::format("; what follows token {} is new", matched);
    default:
      return text + "; " + to_string(reason);
  }
}

}  // namespace lockstep
