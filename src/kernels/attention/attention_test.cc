#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float16.h"
#include "kernels/attention/reference.h"
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

const Shape kShapes[] = {{.heads = 1},
                         {.heads = 8, .kv_heads = 2, .head_dim = 128, .type = KvType::kF32},
                         {.heads = 6, .kv_heads = 1},
                         {.heads = 12, .kv_heads = 2, .head_dim = 16},
                         {.heads = 8, .kv_heads = 1, .head_dim = 48},
                         {.heads = 4, .kv_heads = 1, .head_dim = 256}};

TEST(Attention, IsWithinItsBoundOfFloat64) {
  for (const Shape& shape : kShapes) {
    for (double spread : {1.0, 30.0}) {  // flat and nearly one-hot weights
      const uint64_t seed = 1;
      constexpr int64_t kRows = 300;
      Tokens tokens(shape, kRows, seed, spread);
      const std::vector<float> got = attend(default_context(), shape, {{&tokens, 0, kRows}});
      const KvSequence sequence{.rows = kRows, .blocks = tokens.blocks.data()};
      std::vector<double> want(got.size()), bound(got.size());
      reference_attention({.shape = shape.kv(),
                           .heads = shape.heads,
                           .scale = 1.0f / 8.0f,
                           .q = tokens.q.data(),
                           .sequences = &sequence,
                           .sequence_count = 1},
                          want.data(), bound.data());
      EXPECT_EQ(compare_within(describe(shape, kRows, seed), got, want, bound), "");
    }
  }
}

// Flat weights over 300 values near 1: an output summed in bf16 misses the bound a hundredfold.
TEST(Attention, SumsAreKeptInFloat32) {
  const Shape shape{.heads = 1, .kv_heads = 1, .head_dim = 16, .type = KvType::kF32};
  constexpr int64_t kRows = 300;
  Tokens tokens(shape, kRows, 10, 0.0);
  tokens.v = Random(11).uniforms(kRows * 16, 0.5, 1.5);
  const std::vector<float> got = attend(default_context(), shape, {{&tokens, 0, kRows}});
  const double bound = attention_relative_error(16, kRows, 0.0, 0.0);
  double exact = 0.0;
  float twin = 0.0f;
  for (size_t j = 0; j < kRows; ++j) {
    exact += tokens.v[16 * j] / static_cast<double>(kRows);
    twin = bf16_to_float(float_to_bf16(twin + tokens.v[16 * j]));
  }
  EXPECT_LE(std::fabs(got[16 * (kRows - 1)] - exact), bound * exact);
  EXPECT_GE(std::fabs(twin / kRows - exact), 100.0 * bound * exact);
}

TEST(Attention, EveryContextGivesTheSameBits) {
  for (const Shape& shape : kShapes) {
    for (int64_t begin : {0, 255, 511, 599}) {
      Tokens tokens(shape, 600, 2);
      attend(default_context(), shape, {{&tokens, 0, 600}});
      const int64_t end = std::min<int64_t>(600, begin + 9);
      for (bool workspace : {true, false}) {
        EXPECT_EQ(compare_contexts(describe(shape, end - begin, 2),
                                   [&](const CpuContext& context) {
                                     return attend(context, shape, {{&tokens, begin, end}},
                                                   workspace);
                                   }),
                  "");
      }
    }
  }
}

TEST(Attention, ChunksOfAnySizeGiveTheSameBits) {
  for (const Shape& shape : kShapes) {
    constexpr int64_t kRows = 600;
    Tokens whole(shape, kRows, 3);
    const std::vector<float> want = attend(default_context(), shape, {{&whole, 0, kRows}});
    for (int64_t chunk : {1, 2, 3, 7, 63, 64, 65, 255, 256, 257}) {
      Tokens tokens(shape, kRows, 3);
      std::vector<float> got;
      for (int64_t begin = 0; begin < kRows; begin += chunk) {
        const std::vector<float> part =
            attend(default_context(), shape, {{&tokens, begin, std::min(kRows, begin + chunk)}});
        got.insert(got.end(), part.begin(), part.end());
      }
      EXPECT_EQ(compare_bits(describe(shape, kRows, 3), got, want), "") << "chunks of " << chunk;
    }
  }
}

TEST(Attention, SequencesInOneCallDoNotSeeEachOther) {
  const Shape shape{.heads = 6, .kv_heads = 2};
  Tokens a(shape, 600, 4), b(shape, 70, 5), c(shape, 300, 6), broken(shape, 40, 7);
  std::fill(broken.k.begin(), broken.k.end(), kNan);
  std::fill(broken.v.begin(), broken.v.end(), kNan);
  attend(default_context(), shape, {{&a, 0, 590}, {&b, 0, 69}, {&c, 0, 200}});
  const Piece last_of_a{&a, 590, 600}, last_of_b{&b, 69, 70}, rest_of_c{&c, 200, 300};
  std::vector<float> want;
  for (const Piece& piece : {last_of_a, last_of_b, rest_of_c}) {
    const std::vector<float> alone = attend(default_context(), shape, {piece});
    want.insert(want.end(), alone.begin(), alone.end());
  }
  std::vector<float> got =
      attend(default_context(), shape, {{&broken, 0, 40}, last_of_a, last_of_b, rest_of_c});
  const size_t skipped = static_cast<size_t>(40 * shape.heads * shape.head_dim);
  EXPECT_TRUE(std::all_of(got.begin(), got.begin() + static_cast<int64_t>(skipped),
                          [](float x) { return x != x; }));
  got.erase(got.begin(), got.begin() + static_cast<int64_t>(skipped));
  EXPECT_EQ(compare_bits(describe(shape, 111, 4), got, want), "");
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
