// The tokens that penalties count, as a value that is cheap to copy: copies share what they have in
// common, so that every row of a draft window has its own (docs/numerics.md, rule 26).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lockstep {

// Occurrences of each id that occurs, kept between draws so that its memory is.
struct TokenCounts {
  struct Count {
    uint32_t all = 0;    // in prompt and reply
    uint32_t reply = 0;  // in the reply
  };
  std::vector<Count> of;     // [V]; zero for ids that `ids` does not list
  std::vector<int32_t> ids;  // each once, in no order that means anything

  // Zero again, for a vocabulary of this size.
  void clear(size_t vocab_size);
};

class TokenHistory {
 public:
  TokenHistory() = default;
  explicit TokenHistory(std::span<const int32_t> prompt);

  // One more token of the reply.
  void push(int32_t id);

  // Counts the last `window` tokens, prompt and reply taken as one text; 0: all of them. Ids lie in
  // [0, vocab_size).
  void count(int64_t window, size_t vocab_size, TokenCounts& counts) const;

 private:
  static constexpr size_t kChunk = 256;
  struct Chunk {
    std::vector<int32_t> ids;  // kChunk of them
    std::shared_ptr<const Chunk> before;
  };

  std::shared_ptr<const std::vector<int32_t>> prompt_;
  std::shared_ptr<const Chunk> full_;  // the reply's tokens before tail_
  std::vector<int32_t> tail_;          // fewer than kChunk
};

}  // namespace lockstep
