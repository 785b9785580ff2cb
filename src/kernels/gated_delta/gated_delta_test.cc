#include "kernels/gated_delta/gated_delta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/float16.h"
#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/gated_delta/reference.h"

namespace lockstep::contract {
namespace {

struct Shape {
  int64_t key_heads = 1, value_heads = 1, key_dim = 16, value_dim = 16;
  bool tiled_heads = false;

  int64_t width() const { return 2 * key_heads * key_dim + values(); }
  int64_t values() const { return value_heads * value_dim; }
  int64_t state() const { return values() * key_dim; }
};

// Rows as the model makes them: q and k of norm 1 (q scaled), decay = exp(g) with g from -316 to 0.
struct Rows {
  std::vector<float> qkv, decay, beta;

  Rows(const Shape& shape, int64_t count, uint64_t seed) {
    Random random(seed);
    qkv = random.normals(count * shape.width());
    for (int64_t head = 0; head < count * 2 * shape.key_heads; ++head) {
      const int64_t row = head / (2 * shape.key_heads), index = head % (2 * shape.key_heads);
      float* x = qkv.data() + row * shape.width() + index * shape.key_dim;
      double squares = 0.0;
      for (int64_t i = 0; i < shape.key_dim; ++i) squares += static_cast<double>(x[i]) * x[i];
      const double scale = index < shape.key_heads ? 0.1 : 1.0;
      for (int64_t i = 0; i < shape.key_dim; ++i) {
        x[i] = static_cast<float>(x[i] * scale / std::sqrt(squares));
      }
    }
    for (int64_t i = 0; i < count * shape.value_heads; ++i) {
      const double kind = random.uniform();
      const double g = kind < 0.7   ? -0.05 * random.uniform()
                       : kind < 0.9 ? -3.0 * random.uniform()
                                    : -316.0 * random.uniform();
      decay.push_back(static_cast<float>(std::exp(g)));
      beta.push_back(static_cast<float>(random.uniform()));
    }
  }
};

struct Result {
  std::vector<float> out, state;
};

GatedDeltaArgs arguments(const Shape& shape, const Rows& rows, int64_t first_row,
                         std::span<const DeltaSequence> sequences, float* out) {
  return {.qkv = rows.qkv.data() + first_row * shape.width(),
          .decay = rows.decay.data() + first_row * shape.value_heads,
          .beta = rows.beta.data() + first_row * shape.value_heads,
          .key_heads = shape.key_heads,
          .value_heads = shape.value_heads,
          .key_dim = shape.key_dim,
          .value_dim = shape.value_dim,
          .tiled_heads = shape.tiled_heads,
          .sequences = sequences.data(),
          .sequence_count = static_cast<int64_t>(sequences.size()),
          .out = out};
}

// Rows [begin, end) from `state`.
Result run(const CpuContext& context, const Shape& shape, const Rows& rows, int64_t begin,
           int64_t end, const std::vector<float>& state) {
  Guarded out((end - begin) * shape.values()), after(shape.state());
  const DeltaSequence sequence{
      .rows = end - begin, .state_in = state.data(), .state_out = after.data()};
  run_gated_delta(context, arguments(shape, rows, begin, {&sequence, 1}, out.data()));
  EXPECT_EQ(out.check(), "");
  EXPECT_EQ(after.check(), "");
  return {out.copy(), after.copy()};
}

std::vector<float> random_state(const Shape& shape, uint64_t seed) {
  return Random(seed).normals(shape.state());
}

const Shape kShapes[] = {{},
                         {.key_heads = 2, .value_heads = 2, .key_dim = 15, .value_dim = 48},
                         {.key_heads = 1, .value_heads = 3, .key_dim = 32, .value_dim = 64},
                         {.key_heads = 2, .value_heads = 16, .key_dim = 17, .value_dim = 80},
                         {.key_heads = 2, .value_heads = 6, .value_dim = 32, .tiled_heads = true},
                         {.key_heads = 1, .value_heads = 2, .key_dim = 128, .value_dim = 128}};

TEST(GatedDelta, SequencesInOneCallDoNotSeeEachOther) {
  const Shape shape{.key_heads = 1, .value_heads = 3, .key_dim = 32, .value_dim = 32};
  const int64_t counts[] = {1, 5, 0, 9};
  Rows rows(shape, 15, 7);
  std::vector<std::vector<float>> states;
  for (uint64_t s = 0; s < 4; ++s) states.push_back(random_state(shape, 8 + s));
  states[1][7] = std::numeric_limits<float>::quiet_NaN();
  std::vector<Guarded> after(4, Guarded(shape.state()));
  std::vector<DeltaSequence> sequences;
  int64_t first = 0;
  for (size_t s = 0; s < 4; ++s) {
    sequences.push_back({first, counts[s], states[s].data(), after[s].data()});
    first += counts[s];
  }
  Guarded out(15 * shape.values());
  run_gated_delta(default_context(), arguments(shape, rows, 0, sequences, out.data()));
  EXPECT_EQ(out.check(), "");
  for (size_t s = 0; s < 4; ++s) {
    const int64_t begin = sequences[s].first_row, end = begin + counts[s];
    const Result alone = run(default_context(), shape, rows, begin, end, states[s]);
    const auto values = static_cast<size_t>(shape.values());
    EXPECT_EQ(compare_bits({"gated_delta", {end - begin, shape.values()}, 7},
                           out.values().subspan(static_cast<size_t>(begin) * values,
                                                static_cast<size_t>(end - begin) * values),
                           alone.out),
              "");
    EXPECT_EQ(compare_bits({"gated_delta", {shape.state()}, 7}, after[s].values(), alone.state),
              "");
  }
  EXPECT_EQ(compare_bits({"no rows", {shape.state()}, 7}, after[2].values(), states[2]), "");
  // A NaN in the state stays in its column of its head.
  const auto spoiled = std::count_if(after[1].values().begin(), after[1].values().end(),
                                     [](float x) { return x != x; });
  EXPECT_EQ(spoiled, shape.key_dim);
}

TEST(GatedDelta, SmallElementsOfTheStateBecomeZero) {
  const Shape shape;
  std::vector<float> state(static_cast<size_t>(shape.state()), 0x1p-99f);
  Rows rows(shape, 1, 9);
  std::fill(rows.qkv.begin(), rows.qkv.end(), 0.0f);
  for (const auto& [decay, want] :
       {std::pair{0.5f, 0x1p-100f}, std::pair{0.4999f, 0.0f}, std::pair{-0.4999f, 0.0f}}) {
    rows.decay[0] = decay;
    const std::vector<float> expected(state.size(), want);
    EXPECT_EQ(compare_bits({"gated_delta", {shape.state()}, 9},
                           run(default_context(), shape, rows, 0, 1, state).state, expected),
              "");
  }
}

}  // namespace
}  // namespace lockstep::contract
