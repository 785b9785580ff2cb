// The committed state of a sequence as bytes, and back: what a prompt cache keeps on disk.
//
// Layout, little-endian: magic "LSST", uint32 version; int64 delta layers, attention layers, conv
// floats, delta floats, KV type, KV heads, head dim, position; then per delta layer its convolution
// and recurrent state (float32); then, per page of 64 positions, attention layer, keys before
// values, and KV head, the rows of committed positions in the cache's type. Rows beyond the
// position are not stored: a state's bytes are a function of its tokens alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "model/sequence_state.h"

namespace lockstep {

// Bytes of a state of this shape that stands at `position`.
uint64_t stored_bytes(const StateShape& shape, int64_t position);

// Hands the bytes to `sink`, piece after piece.
void store_state(const SequenceState& state,
                 const std::function<void(std::span<const std::byte>)>& sink);

// Reads into a state at position 0. The bytes may come from anyone: another shape (kUnsupported), a
// wrong length or a value that is not finite (kBadFile) is refused, with `state` as it was; no
// memory for the pages is kOutOfMemory.
Status read_state(std::span<const std::byte> bytes, SequenceState& state);

}  // namespace lockstep
