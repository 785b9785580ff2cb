// What the draft head keeps of a sequence, to be saved and restored with its state: without it the
// head begins anew there, which makes its drafts worse and changes no token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/sequence_state.h"

namespace lockstep {

struct DraftContext {
  SequenceState state;        // of the head: rows of the positions before `first`
  std::vector<float> hidden;  // [rows, H] the trunk's, from position `first` on, not read yet
  int64_t first = 0;

  size_t hidden_bytes() const { return hidden.size() * sizeof(float); }
};

}  // namespace lockstep
