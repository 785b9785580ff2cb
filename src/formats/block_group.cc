#include "formats/block_group.h"

#include "base/float16.h"

namespace lockstep {
namespace {

using Bytes = const uint8_t*;

float half_at(Bytes address) { return f16_to_float(load_unaligned<uint16_t>(address)); }

int low_nibble(uint8_t byte) { return byte & 15; }
int high_nibble(uint8_t byte) { return byte >> 4; }

void set_factors(BlockGroup& out, float scale, float bias) {
  out.scale[0] = out.scale[1] = scale;
  out.bias[0] = out.bias[1] = bias;
}

// Blocks of 32 keep elements 0..15 in the low nibbles and 16..31 in the high ones.
int half_block_nibble(Bytes nibbles, int e) {
  return e < 16 ? low_nibble(nibbles[e]) : high_nibble(nibbles[e - 16]);
}

void read_q4(Bytes nibbles, int offset, BlockGroup& out) {
  for (int e = 0; e < kBlockGroup; ++e) {
    out.q[e] = static_cast<int8_t>(half_block_nibble(nibbles, e) - offset);
  }
}

void read_q5(Bytes high_bits, Bytes nibbles, int offset, BlockGroup& out) {
  const auto bits = load_unaligned<uint32_t>(high_bits);
  for (int e = 0; e < kBlockGroup; ++e) {
    const int high = static_cast<int>(bits >> e & 1u) * 16;
    out.q[e] = static_cast<int8_t>(half_block_nibble(nibbles, e) + high - offset);
  }
}

void read_q8_0(Bytes block, BlockGroup& out) {
  set_factors(out, half_at(block), 0.0f);
  for (int e = 0; e < kBlockGroup; ++e) out.q[e] = static_cast<int8_t>(block[2 + e]);
}

// The 2-bit number of element e of group j of 8, as Q2_K and Q3_K keep it.
int two_bits(Bytes packed, int j, int e) { return packed[32 * (j / 4) + e] >> (2 * (j % 4)) & 3; }

void read_q2_k(Bytes block, int j, BlockGroup& out) {
  const float d = half_at(block + 80);
  const float dmin = half_at(block + 82);
  for (int half = 0; half < 2; ++half) {
    const uint8_t packed = block[2 * j + half];
    out.scale[half] = d * static_cast<float>(low_nibble(packed));
    out.bias[half] = -(dmin * static_cast<float>(high_nibble(packed)));
  }
  for (int e = 0; e < kBlockGroup; ++e) out.q[e] = static_cast<int8_t>(two_bits(block + 16, j, e));
}

// 6-bit scale s of 0..15 from the 12 bytes of a Q3_K block, before 32 is taken off.
int q3_k_scale(Bytes packed, int s) {
  const int low = s < 8 ? low_nibble(packed[s]) : high_nibble(packed[s - 8]);
  return low | (packed[8 + s % 4] >> (2 * (s / 4)) & 3) << 4;
}

void read_q3_k(Bytes block, int j, BlockGroup& out) {
  const float d = half_at(block + 108);
  for (int half = 0; half < 2; ++half) {
    out.scale[half] = d * static_cast<float>(q3_k_scale(block + 96, 2 * j + half) - 32);
  }
  for (int e = 0; e < kBlockGroup; ++e) {
    const int high = block[e] >> j & 1;
    out.q[e] = static_cast<int8_t>(two_bits(block + 32, j, e) - 4 * (1 - high));
  }
}

void set_k_factors(Bytes block, int j, BlockGroup& out) {
  const ScaleAndMin packed = unpack_scale_and_min(block + 4, j);
  set_factors(out, half_at(block) * static_cast<float>(packed.scale),
              -(half_at(block + 2) * static_cast<float>(packed.min)));
}

// Groups 2 i and 2 i + 1 are the low and the high nibbles of the same 32 bytes.
int paired_nibble(Bytes nibbles, int j, int e) {
  const uint8_t byte = nibbles[32 * (j / 2) + e];
  return j % 2 == 0 ? low_nibble(byte) : high_nibble(byte);
}

void read_q4_k(Bytes block, int j, BlockGroup& out) {
  set_k_factors(block, j, out);
  for (int e = 0; e < kBlockGroup; ++e) {
    out.q[e] = static_cast<int8_t>(paired_nibble(block + 16, j, e));
  }
}

void read_q5_k(Bytes block, int j, BlockGroup& out) {
  set_k_factors(block, j, out);
  for (int e = 0; e < kBlockGroup; ++e) {
    const int high = block[16 + e] >> j & 1;
    out.q[e] = static_cast<int8_t>(paired_nibble(block + 48, j, e) + 16 * high);
  }
}

void read_q6_k(Bytes block, int j, BlockGroup& out) {
  const float d = half_at(block + 208);
  for (int half = 0; half < 2; ++half) {
    out.scale[half] = d * static_cast<float>(static_cast<int8_t>(block[192 + 2 * j + half]));
  }
  const int n = j / 4;  // which 128 elements
  const int t = j % 4;
  for (int e = 0; e < kBlockGroup; ++e) {
    const uint8_t packed = block[64 * n + 32 * (t % 2) + e];
    const int low = t < 2 ? low_nibble(packed) : high_nibble(packed);
    const int high = block[128 + 32 * n + e] >> (2 * t) & 3;
    out.q[e] = static_cast<int8_t>((low | high << 4) - 32);
  }
}

void read_non_linear(Bytes nibbles, BlockGroup& out) {
  for (int e = 0; e < kBlockGroup; ++e) out.q[e] = kNonLinear4[half_block_nibble(nibbles, e)];
}

void read_iq4_xs(Bytes block, int j, BlockGroup& out) {
  const auto high = load_unaligned<uint16_t>(block + 2);
  const uint8_t pair = block[4 + j / 2];
  const int low = j % 2 == 0 ? low_nibble(pair) : high_nibble(pair);
  const int scale = (low | (high >> (2 * j) & 3) << 4) - 32;
  set_factors(out, half_at(block) * static_cast<float>(scale), 0.0f);
  read_non_linear(block + 8 + 16 * j, out);
}

}  // namespace

BlockGroup read_block_group(BlockType type, const std::byte* row, int64_t index) {
  const BlockShape shape = block_shape(type);
  const int64_t groups = shape.elements / kBlockGroup;
  const Bytes block = reinterpret_cast<Bytes>(row) + index / groups * shape.bytes;
  const auto j = static_cast<int>(index % groups);
  BlockGroup out;
  switch (type) {
    case BlockType::kQ4_0:
      set_factors(out, half_at(block), 0.0f);
      read_q4(block + 2, 8, out);
      break;
    case BlockType::kQ4_1:
      set_factors(out, half_at(block), half_at(block + 2));
      read_q4(block + 4, 0, out);
      break;
    case BlockType::kQ5_0:
      set_factors(out, half_at(block), 0.0f);
      read_q5(block + 2, block + 6, 16, out);
      break;
    case BlockType::kQ5_1:
      set_factors(out, half_at(block), half_at(block + 2));
      read_q5(block + 4, block + 8, 0, out);
      break;
    case BlockType::kQ8_0:
      read_q8_0(block, out);
      break;
    case BlockType::kQ2_K:
      read_q2_k(block, j, out);
      break;
    case BlockType::kQ3_K:
      read_q3_k(block, j, out);
      break;
    case BlockType::kQ4_K:
      read_q4_k(block, j, out);
      break;
    case BlockType::kQ5_K:
      read_q5_k(block, j, out);
      break;
    case BlockType::kQ6_K:
      read_q6_k(block, j, out);
      break;
    case BlockType::kIQ4_NL:
      set_factors(out, half_at(block), 0.0f);
      read_non_linear(block + 2, out);
      break;
    case BlockType::kIQ4_XS:
      read_iq4_xs(block, j, out);
      break;
  }
  return out;
}

}  // namespace lockstep
