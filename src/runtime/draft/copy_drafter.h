// Drafts that copy: what followed the last time that the text stood as it stands at its end, in the
// prompt, in the reply so far or in a text that the caller expects.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace lockstep {

class CopyDrafter {
 public:
  // `prediction`: what the reply may be like; may be empty.
  explicit CopyDrafter(std::span<const int32_t> prediction);

  // Ids that must agree before anything is copied.
  static constexpr int64_t kLeastMatch = 3;
  // Beyond it a longer match says no more.
  static constexpr int64_t kMostMatch = 32;

  struct Copy {
    std::vector<int32_t> ids;
    int64_t match = 0;  // ids that agree before it; 0: it is the prediction's beginning
  };

  // At most `most` ids to follow `text`, prompt and reply so far, which begins with the text that
  // it was asked about before. The reply begins at `reply_begin`. Of the places that agree the
  // longest the last one is copied.
  Copy propose(std::span<const int32_t> text, int64_t reply_begin, int64_t most);

 private:
  // Places that are looked at for the longest match.
  static constexpr int kMostPlaces = 16;

  void add(int32_t id);
  int64_t match_before(int64_t end) const;
  bool follows_prediction(std::span<const int32_t> reply) const;

  int64_t prediction_ = 0;  // ids of it
  // The prediction, an id that is none, and the text.
  std::vector<int32_t> ids_;
  std::vector<int64_t> earlier_;  // [ids] the place before that has the same three ids
  std::unordered_map<uint64_t, int64_t> last_;  // of three ids, hashed: the place after them
};

}  // namespace lockstep
