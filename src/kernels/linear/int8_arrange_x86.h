// Packed weights to vectors of bytes in the order of quantized_rows.h: vector i of a part meets
// bytes [64 i, 64 i + 4 kPartLanes) of the part's activations.
//   Arranger<Format>::arrange(source, part, vectors)   `source` is the packed block, or, where
//                                                      kFromBytes, its 512 q as bytes
#pragma once

namespace lockstep::LOCKSTEP_ISA {
namespace {

inline constexpr int kPartBytes = 4 * kPartLanes;
// Groups of 32 in one row of four 16-byte pieces: those that vector i of a part comes from begin at
// group 4 i + kPartGroups * part.
inline constexpr int kPartGroups = kPartLanes / 4;

// Of each 16 bytes, vectors hold 4 from dword 0, then 4 from dword 1 ...
inline void join_halves(Bytes (&first)[4], Bytes (&second)[4], Bytes (&w)[8]) {
  transpose_dwords(first);
  transpose_dwords(second);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    w[i] = first[i];
    w[4 + i] = second[i];
  }
}

template <typename Format>
struct Arranger {
  static constexpr bool kFromBytes = true;
  [[gnu::always_inline]] static void arrange(const uint8_t* bytes, int part, Bytes (&w)[8]) {
    Bytes first[4], second[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      load_halves(bytes + 128 * i + 2 * kPartBytes * part, first[i], second[i]);
    }
    join_halves(first, second, w);
  }
};

template <>
struct Arranger<AffineFormat<4>> {
  static constexpr bool kFromBytes = false;
  [[gnu::always_inline]] static void arrange(const uint8_t* packed, int part, Bytes (&w)[8]) {
    Bytes rows[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) rows[i] = Bytes::load(packed + 64 * i + kPartBytes * part);
    transpose_dwords(rows);
#pragma GCC unroll 4
    for (int d = 0; d < 4; ++d) {
      w[2 * d] = low_nibbles(rows[d]);
      w[2 * d + 1] = high_nibbles(rows[d]);
    }
  }
};

template <>
struct Arranger<BlockFormat<BlockType::kQ4_0>> {
  static constexpr bool kFromBytes = false;
  [[gnu::always_inline]] static void arrange(const uint8_t* blocks, int part, Bytes (&w)[8]) {
    constexpr int kBytes = block_shape(BlockType::kQ4_0).bytes;
    Bytes packed[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      packed[i] = load_sixteens(blocks + (4 * i + kPartGroups * part) * kBytes + 2, kBytes);
    }
    transpose_dwords(packed);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      w[i] = low_nibbles(packed[i]);
      w[4 + i] = high_nibbles(packed[i]);
    }
  }
};

template <>
struct Arranger<BlockFormat<BlockType::kQ8_0>> {
  static constexpr bool kFromBytes = false;
  [[gnu::always_inline]] static void arrange(const uint8_t* blocks, int part, Bytes (&w)[8]) {
    constexpr int kBytes = block_shape(BlockType::kQ8_0).bytes;
    Bytes first[4], second[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const uint8_t* from = blocks + (4 * i + kPartGroups * part) * kBytes + 2;
      first[i] = load_sixteens(from, kBytes) ^ splat_bytes(0x80);
      second[i] = load_sixteens(from + 16, kBytes) ^ splat_bytes(0x80);
    }
    join_halves(first, second, w);
  }
};

// Groups 2 p and 2 p + 1 are the low and the high nibbles of 32 bytes.
template <>
struct Arranger<BlockFormat<BlockType::kQ4_K>> {
  static constexpr bool kFromBytes = false;
  [[gnu::always_inline]] static void arrange(const uint8_t* blocks, int part, Bytes (&w)[8]) {
    constexpr int kBytes = block_shape(BlockType::kQ4_K).bytes;
    Bytes packed[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int in_block = 64 * (i % 2) + 16 * kPartGroups * part;
      packed[i] = draw_apart(Bytes::load(blocks + i / 2 * kBytes + 16 + in_block));
    }
    transpose_dwords(packed);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      interleave_quarters(low_nibbles(packed[i]), high_nibbles(packed[i]), w[i], w[4 + i]);
    }
  }
};

// 128 elements at a time: groups 0 and 1 are the low nibbles of 2 x 32 bytes, groups 2 and 3 the
// high ones; two more bits of group t are bits 2 t of 32 bytes.
template <>
struct Arranger<BlockFormat<BlockType::kQ6_K>> {
  static constexpr bool kFromBytes = false;
  [[gnu::always_inline]] static void arrange(const uint8_t* blocks, int part, Bytes (&w)[8]) {
    constexpr int kBytes = block_shape(BlockType::kQ6_K).bytes;
    Bytes first[4], second[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const uint8_t* block = blocks + i / 2 * kBytes;
      const uint8_t* crumbs = block + 128 + 32 * (i % 2);
      split_quarters(block + 64 * (i % 2), part, first[i], second[i]);
      first[i] = draw_apart(first[i] | spread_crumbs_apart(crumbs, part));
      second[i] = draw_apart(second[i] | spread_crumbs_apart(crumbs + 16, part));
    }
    join_halves(first, second, w);
  }
};

}  // namespace
}  // namespace lockstep::LOCKSTEP_ISA
