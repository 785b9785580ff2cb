#include "verify/exact/state_parts.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "base/float16.h"

namespace lockstep::verify {
namespace {

using Visit = std::function<void(const StatePart&)>;

void visit_recurrent(const SequenceState& sequence, int64_t index, int64_t layer,
                     const Visit& visit) {
  const StateShape& shape = sequence.shape();
  const auto bytes = [](const float* data, int64_t count) {
    return std::as_bytes(std::span(data, static_cast<size_t>(count)));
  };
  visit({.kind = StateKind::kConv,
         .layer = layer,
         .bytes = bytes(sequence.conv_in(index), shape.conv_floats)});
  visit({.kind = StateKind::kDelta,
         .layer = layer,
         .bytes = bytes(sequence.delta_in(index), shape.delta_floats)});
}

void visit_cache(const SequenceState& sequence, int64_t index, int64_t layer, const Visit& visit) {
  const KvShape& kv = sequence.shape().kv;
  const size_t row = static_cast<size_t>(kv.head_dim) * kv.element_bytes();
  for (int64_t position = 0; position < sequence.position(); ++position) {
    const std::byte* block = sequence.blocks(index)[position / kKvBlock];
    for (int64_t i = 0; i < 2 * kv.kv_heads; ++i) {
      const auto offset = static_cast<size_t>(i * kKvBlock + position % kKvBlock) * row;
      visit({.kind = i < kv.kv_heads ? StateKind::kKey : StateKind::kValue,
             .layer = layer,
             .position = position,
             .head = i % kv.kv_heads,
             .bytes = {block + offset, row}});
    }
  }
}

std::string part_name(const StatePart& part) {
  const char* names[] = {"convolution state", "recurrent state", "key", "value"};
  const char* name = names[static_cast<size_t>(part.kind)];
  if (part.position < 0) return fmt::format("layer {}, {}", part.layer, name);
  return fmt::format("layer {}, {} of position {}, head {}", part.layer, name, part.position,
                     part.head);
}

std::string element_text(std::span<const std::byte> bytes, size_t index, size_t size) {
  if (size == 2) {
    uint16_t bits = 0;
    std::memcpy(&bits, bytes.data() + index * size, size);
    return fmt::format("{} (0x{:04x})", bf16_to_float(bits), bits);
  }
  float value = 0.0f;
  uint32_t bits = 0;
  std::memcpy(&value, bytes.data() + index * size, size);
  std::memcpy(&bits, &value, size);
  return fmt::format("{} (0x{:08x})", value, bits);
}

// Of the first element that differs; empty if none does.
std::string difference(const StatePart& got, std::span<const std::byte> want, size_t size) {
  for (size_t i = 0; i * size < want.size(); ++i) {
    if (std::memcmp(got.bytes.data() + i * size, want.data() + i * size, size) == 0) continue;
    return fmt::format("{}, element {}: {}, want {}", part_name(got), i,
                       element_text(got.bytes, i, size), element_text(want, i, size));
  }
  return {};
}

}  // namespace

void for_each_part(const SequenceState& sequence, std::span<const Mixer> mixers,
                   const Visit& visit) {
  int64_t of_kind[2] = {0, 0};
  for (size_t layer = 0; layer < mixers.size(); ++layer) {
    const bool attention = mixers[layer] == Mixer::kFullAttention;
    const int64_t index = of_kind[attention ? 1 : 0]++;
    const auto visit_layer = attention ? visit_cache : visit_recurrent;
    visit_layer(sequence, index, static_cast<int64_t>(layer), visit);
  }
}

BitHash fingerprint(const SequenceState& sequence, std::span<const Mixer> mixers) {
  std::vector<BitHash> parts = {{static_cast<uint64_t>(sequence.position()), 0}};
  for_each_part(sequence, mixers,
                [&](const StatePart& part) { parts.push_back(hash_bits(part.bytes)); });
  return hash_bits(parts);
}

std::string first_difference(const SequenceState& got, const SequenceState& want,
                             std::span<const Mixer> mixers) {
  if (got.position() != want.position()) {
    return fmt::format("stands at position {}, want {}", got.position(), want.position());
  }
  std::vector<std::span<const std::byte>> parts;
  for_each_part(want, mixers, [&](const StatePart& part) { parts.push_back(part.bytes); });
  std::string found;
  size_t next = 0;
  for_each_part(got, mixers, [&](const StatePart& part) {
    const bool cached = part.position >= 0;
    const size_t size = cached ? got.shape().kv.element_bytes() : sizeof(float);
    const std::span<const std::byte> other = parts[next++];
    if (found.empty()) found = difference(part, other, size);
  });
  return found;
}

}  // namespace lockstep::verify
