// What a sequence keeps, taken apart by name: committed recurrent and convolution state, and the
// keys and values of all committed positions.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "model/sequence_state.h"
#include "verify/exact/row_hash.h"

namespace lockstep::verify {

enum class StateKind : uint8_t { kConv, kDelta, kKey, kValue };

struct StatePart {
  StateKind kind = StateKind::kConv;
  int64_t layer = 0;      // of the model
  int64_t position = -1;  // of a key or value
  int64_t head = -1;      // of a key or value
  std::span<const std::byte> bytes;
};

// Visits every part in a fixed order. `mixers` are the kinds of the model's layers.
void for_each_part(const SequenceState& sequence, std::span<const Mixer> mixers,
                   const std::function<void(const StatePart&)>& visit);

// Of all parts and the position.
BitHash fingerprint(const SequenceState& sequence, std::span<const Mixer> mixers);

// "layer 3, key of position 64, head 1, element 5: -0.25 (0xbe80), want 0.5 (0x3f00)" of the first
// difference between two sequences; empty if there is none.
std::string first_difference(const SequenceState& got, const SequenceState& want,
                             std::span<const Mixer> mixers);

}  // namespace lockstep::verify
