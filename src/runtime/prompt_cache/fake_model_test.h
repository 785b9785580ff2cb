// A model without weights for the tests of the prompt cache: what it keeps after a row is a hash of
// what it kept before and of the row's id, so that a page or a state that is not the right one
// shows in everything after it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "model/sequence_state.h"
#include "model/sequence_state_io.h"

namespace lockstep {

inline StateShape fake_shape() {
  return {.delta_layers = 2,
          .attention_layers = 2,
          .conv_floats = 3,
          .delta_floats = 5,
          .kv = {.type = KvType::kBf16, .kv_heads = 1, .head_dim = 16}};
}

inline SequenceState fake_state() { return SequenceState(fake_shape()); }

// All that is committed.
inline std::vector<std::byte> bytes_of(const SequenceState& state) {
  std::vector<std::byte> bytes;
  store_state(state, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return bytes;
}

// Runs one row: reads all keys and values and the recurrent state, writes what follows.
inline void run_row(SequenceState& state, int32_t id) {
  const StateShape& shape = state.shape();
  const int64_t position = state.position();
  uint64_t hash = static_cast<uint64_t>(id) * 0x9E3779B97F4A7C15u + 1;
  const auto mix = [&](const void* data, size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3u;
  };
  const std::vector<std::byte> before = bytes_of(state);
  mix(before.data(), before.size());
  if (!state.begin_round(1).ok()) std::abort();
  for (int64_t layer = 0; layer < shape.delta_layers; ++layer) {
    float* out = state.conv_out(layer);
    for (int64_t i = 0; i < shape.conv_floats + shape.delta_floats; ++i) {
      out[i] = static_cast<float>((hash >> (i * 7 + layer)) & 0xffff);
    }
  }
  const size_t row = static_cast<size_t>(shape.kv.head_dim) * shape.kv.element_bytes();
  for (int64_t layer = 0; layer < shape.attention_layers; ++layer) {
    std::byte* block = state.blocks(layer)[position / kKvBlock];
    for (int64_t half = 0; half < 2; ++half) {
      std::byte* to = block + static_cast<size_t>(half * kKvBlock + position % kKvBlock) * row;
      for (size_t i = 0; i < row; i += 2) {
        const auto value =
            static_cast<uint16_t>((hash >> (i + static_cast<size_t>(layer))) & 0x3fff);
        std::memcpy(to + i, &value, 2);
      }
    }
  }
  state.commit(1);
}

inline void run_rows(SequenceState& state, std::span<const int32_t> ids) {
  for (const int32_t id : ids) run_row(state, id);
}

inline SequenceState state_after(std::span<const int32_t> ids) {
  SequenceState state = fake_state();
  run_rows(state, ids);
  return state;
}

}  // namespace lockstep
