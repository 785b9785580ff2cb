// Where a prompt is worth a saved state: recurrent state cannot be cut back, so a later prompt can
// resume only where one was saved.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep {

enum class SaveKind : uint8_t {
  kSystem,          // end of the system block: every conversation with this text resumes here
  kUserTurn,        // end of the last user turn
  kBeforeThinking,  // just before the think tag: the next turn may drop what was thought
  kPromptEnd,       // one token before the prompt's end: the same prompt again costs one row
  kReplyEnd,        // an append goes on from here
  kParting,         // where two prompts parted, once the second has shown it
  kInterval,        // every so many tokens
};
inline constexpr SaveKind kSaveKinds[] = {
    SaveKind::kSystem,   SaveKind::kUserTurn, SaveKind::kBeforeThinking, SaveKind::kPromptEnd,
    SaveKind::kReplyEnd, SaveKind::kParting,  SaveKind::kInterval};

// "system", "user turn", ...
const char* to_string(SaveKind kind);

struct SavePoint {
  int64_t length = 0;  // the state after so many ids
  SaveKind kind = SaveKind::kInterval;
  bool operator==(const SavePoint&) const = default;
};

struct SavePolicy {
  int64_t min_tokens = 32;  // shorter states are not worth their memory
  int64_t interval = 1024;  // between kInterval points
  int64_t min_gain = 16;    // a parting or interval point this near to another one is left out
};

// Ascending points of a prompt that is read from `resumed` on (the length of the hit), each in
// (resumed, prompt_length). `marks` come from whoever wrote the prompt, in any order; those outside
// are left out. `parted` is where it left what other prompts have (CacheLookup::parted).
std::vector<SavePoint> plan_save_points(int64_t prompt_length, int64_t resumed,
                                        std::span<const SavePoint> marks,
                                        std::optional<int64_t> parted, const SavePolicy& policy);

}  // namespace lockstep
