#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"

namespace lockstep::contract {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Shape {
  int64_t heads = 4;
  int64_t kv_heads = 1;
  int64_t head_dim = 64;
  KvType type = KvType::kBf16;

  KvShape kv() const { return {type, kv_heads, head_dim}; }
};

// Tokens of one sequence with their cache, whose unwritten places hold NaN.
struct Tokens {
  std::vector<float> q, k, v;
  std::vector<std::vector<std::byte>> storage;
  std::vector<std::byte*> blocks;

  Tokens(const Shape& shape, int64_t count, uint64_t seed, double spread = 1.0) {
    Random random(seed);
    q = random.normals(count * shape.heads * shape.head_dim, spread);
    k = random.normals(count * shape.kv_heads * shape.head_dim);
    v = random.normals(count * shape.kv_heads * shape.head_dim);
    for (int64_t b = 0; b * kKvBlock < count; ++b) {
      storage.emplace_back(shape.kv().block_bytes(), std::byte{0xff});
      blocks.push_back(storage.back().data());
    }
  }
};

// Rows [begin, end) of a sequence's tokens.
struct Piece {
  Tokens* tokens;
  int64_t begin, end;
};

// Stores the keys and values of the pieces, attends in one call, and returns [rows, Nq, Dh].
std::vector<float> attend(const CpuContext& context, const Shape& shape,
                          const std::vector<Piece>& pieces, bool workspace = true) {
  std::vector<float> q, k, v;
  std::vector<KvSequence> sequences;
  int64_t rows = 0;
  const auto append = [](std::vector<float>& to, const std::vector<float>& from, int64_t begin,
                         int64_t end, int64_t width) {
    to.insert(to.end(), from.begin() + begin * width, from.begin() + end * width);
  };
  for (const Piece& piece : pieces) {
    append(q, piece.tokens->q, piece.begin, piece.end, shape.heads * shape.head_dim);
    append(k, piece.tokens->k, piece.begin, piece.end, shape.kv_heads * shape.head_dim);
    append(v, piece.tokens->v, piece.begin, piece.end, shape.kv_heads * shape.head_dim);
    sequences.push_back({.first_row = rows,
                         .rows = piece.end - piece.begin,
                         .first_position = piece.begin,
                         .blocks = piece.tokens->blocks.data()});
    rows += piece.end - piece.begin;
  }
  const auto count = static_cast<int64_t>(sequences.size());
  run_kv_store(context, {.shape = shape.kv(),
                         .k = k.data(),
                         .v = v.data(),
                         .sequences = sequences.data(),
                         .sequence_count = count});
  std::vector<float> scratch(static_cast<size_t>(attention_workspace(shape.kv())), kNan);
  Guarded out(rows * shape.heads * shape.head_dim);
  run_attention(context, {.shape = shape.kv(),
                          .heads = shape.heads,
                          .scale = 1.0f / 8.0f,
                          .q = q.data(),
                          .sequences = sequences.data(),
                          .sequence_count = count,
                          .out = out.data(),
                          .workspace = workspace ? scratch.data() : nullptr});
  EXPECT_EQ(out.check(), "");
  return {out.values().begin(), out.values().end()};
}

Case describe(const Shape& shape, int64_t rows, uint64_t seed) {
  return {shape.type == KvType::kBf16 ? "attention, bf16 cache" : "attention, f32 cache",
          {rows, shape.heads, shape.head_dim},
          seed};
}

TEST(Attention, LaterRowsNeverMatterNotEvenNan) {
  // With one or three heads to a KV head, neighbouring rows share the tiles of the kernel.
  for (const Shape& shape : {Shape{.heads = 4}, Shape{.heads = 1}, Shape{.heads = 3}}) {
    for (int64_t spoiled : {1, 40, 63, 64, 299}) {
      Tokens whole(shape, 300, 8);
      const std::vector<float> want = attend(default_context(), shape, {{&whole, 0, 300}});
      Tokens tokens(shape, 300, 8);
      const int64_t width = shape.head_dim;
      std::fill_n(tokens.k.begin() + spoiled * width, width, kNan);
      std::fill_n(tokens.v.begin() + spoiled * width, width, kNan);
      const std::vector<float> got = attend(default_context(), shape, {{&tokens, 0, 300}});
      const auto before = static_cast<size_t>(spoiled * shape.heads * width);
      EXPECT_EQ(compare_bits(describe(shape, spoiled, 8), std::span(got).first(before),
                             std::span(want).first(before)),
                "");
      EXPECT_TRUE(std::all_of(got.begin() + static_cast<int64_t>(before), got.end(),
                              [](float x) { return x != x; }));
    }
  }
}

TEST(Attention, InfiniteScoresComeOutAsTheHeaderSays) {
  const Shape shape{.heads = 1, .kv_heads = 1, .head_dim = 16, .type = KvType::kF32};
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Tokens tokens(shape, 4, 9);
  tokens.q.assign(tokens.q.size(), 1.0f);
  tokens.k[1 * 16] = -kInfinity;
  tokens.k[3 * 16] = kInfinity;
  const std::vector<float> got = attend(default_context(), shape, {{&tokens, 0, 4}});
  EXPECT_EQ(got[0], tokens.v[0]);
  EXPECT_EQ(got[16], tokens.v[0]);  // the second key has weight 0
  EXPECT_TRUE(got[2 * 16] == got[2 * 16]);
  EXPECT_TRUE(got[3 * 16] != got[3 * 16]);
}

}  // namespace
}  // namespace lockstep::contract
