// What may be drawn next, as a mask over the vocabulary: how a grammar acts on a draw
// (docs/numerics.md, rule 27).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace lockstep {

// Bit id % 64 of word id / 64 says whether an id may be drawn. Bits beyond the vocabulary are not
// read.
using TokenMask = std::span<const uint64_t>;

inline size_t mask_words(size_t vocab_size) { return (vocab_size + 63) / 64; }

// One state of a constraint. States never change: whoever holds one may go on from it in several
// ways, as the rows of a draft window do.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;

  // mask_words(V) words, valid for as long as the state lives.
  virtual TokenMask mask() const = 0;
  // The state after `id`, which mask() allows.
  virtual std::shared_ptr<const TokenConstraint> after(int32_t id) const = 0;
};

}  // namespace lockstep
