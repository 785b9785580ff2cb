#include "kernels/linear/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/float16.h"
#include "formats/block_group.h"
#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/linear/error_bound.h"
#include "kernels/linear/reference.h"
#include "kernels/linear/test_matrix.h"

namespace lockstep::contract {
namespace {

struct Shape {
  int64_t rows, n, k;
};

std::vector<WeightKind> dense_kinds() {
  return {dense(DType::kF32), dense(DType::kF16), dense(DType::kBF16)};
}

std::vector<WeightKind> affine_kinds() {
  std::vector<WeightKind> kinds;
  for (int bits : {2, 3, 4, 5, 6, 8}) {
    for (int group : {32, 64, 128}) kinds.push_back(affine(bits, group));
  }
  for (DType dtype : {DType::kF16, DType::kF32}) {
    kinds.push_back(affine(4, 64, dtype));
    kinds.push_back(affine(6, 32, dtype));
    kinds.push_back(affine(4, 128, dtype));
  }
  kinds.push_back(affine(5, 96));
  kinds.push_back(affine(4, 160));
  return kinds;
}

std::vector<WeightKind> block_kinds() {
  std::vector<WeightKind> kinds;
  for (int i = 0; i < kBlockTypes; ++i) kinds.push_back(blocks(static_cast<BlockType>(i)));
  return kinds;
}

std::vector<WeightKind> all_kinds() {
  std::vector<WeightKind> kinds = dense_kinds();
  for (const WeightKind& kind : affine_kinds()) kinds.push_back(kind);
  for (const WeightKind& kind : block_kinds()) kinds.push_back(kind);
  return kinds;
}

// Lengths of K around every step that a kernel may take.
std::vector<int64_t> lengths(const WeightKind& kind) {
  if (kind.encoding == Encoding::kDense) {
    return {1, 15, 16, 17, 31, 32, 33, 255, 257, 512, 2048 + 33};
  }
  std::vector<int64_t> result;
  if (kind.encoding == Encoding::kBlocks) {
    const int elements = block_shape(kind.block).elements;
    for (int64_t count : {1, 2, 3, 5, 8}) result.push_back(count * elements);
    if (elements == 32) result.insert(result.end(), {15 * 32, 17 * 32, 33 * 32});
    return result;
  }
  for (int64_t groups : {1, 2, 3, 5, 8, 15, 17, 33}) {
    if (groups * kind.group <= 2176) result.push_back(groups * kind.group);
  }
  result.push_back((512 / kind.group + 1) * kind.group);
  result.push_back(2048 / kind.group * kind.group);
  return result;
}

// One product with everything that it needs.
struct Problem {
  Problem(const WeightKind& kind, const Shape& size, bool int8, uint64_t seed = 11)
      : shape(size), weight(kind, size.n, size.k, seed) {
    x = Random(seed + 1).normals(size.rows * size.k);
    quantize = int8;
    test = {kind.name() + (int8 ? ", int8, K " : ", full, K ") + std::to_string(size.k),
            {size.rows, size.n},
            seed};
  }

  LinearArgs args(const ActivationBlock* quantized, float* y) const {
    return {.weight = weight.view(),
            .x = quantize ? nullptr : x.data(),
            .x_quantized = quantize ? quantized : nullptr,
            .rows = shape.rows,
            .y = y,
            .y_stride = shape.n};
  }
  std::vector<float> run(const CpuContext& context) const {
    const auto quantized = quantized_rows(context, x.data(), shape.rows, shape.k);
    Guarded y(shape.rows * shape.n);
    run_linear(context, args(quantized.data(), y.data()));
    EXPECT_EQ(y.check(), "") << test.kernel;
    return {y.values().begin(), y.values().end()};
  }

  Shape shape;
  TestMatrix weight;
  std::vector<float> x;
  bool quantize = false;
  Case test;
};

// Calls function(problem) for all kinds in both arithmetics and all lengths of K.
template <typename Function>
void for_each_problem(int64_t rows, int64_t n, const Function& function) {
  for (const WeightKind& kind : all_kinds()) {
    for (bool int8 : {false, true}) {
      if (int8 && !kind.takes_int8()) continue;
      for (int64_t k : lengths(kind)) function(Problem(kind, {rows, n, k}, int8));
    }
  }
}

// The header's order, literally.
float tree(std::array<float, 16> lanes) {
  for (int half = 8; half >= 1; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// d_w D of group g, from the bytes of its block.
float q6_k_term(const MatrixView& w, int64_t output, int64_t g, const ActivationBlock& x) {
  const std::byte* block = w.data + static_cast<size_t>(output) * w.row_bytes() +
                           static_cast<size_t>(g / 8 * block_shape(w.block).bytes);
  const BlockGroup group = read_block_group(w.block, block, g % 8);
  int32_t sum = 0;
  for (int e = 0; e < 32; ++e) {
    const auto scale = std::to_integer<int8_t>(block[192 + 2 * (g % 8) + e / 16]);
    sum += scale * group.q[e] * x.q[activation_place(32 * g + e)];
  }
  return f16_to_float(load_unaligned<uint16_t>(block + 208)) * static_cast<float>(sum);
}

std::vector<float> in_stated_order(const Problem& problem) {
  const auto [rows, n, k_count] = problem.shape;
  const auto quantized = quantized_rows(default_context(), problem.x.data(), rows, k_count);
  const MatrixView& w = problem.weight.view();
  std::vector<float> y;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t o = 0; o < n; ++o) {
      std::array<float, 16> acc = {};
      for (int64_t k = 0; k < (problem.quantize ? 0 : k_count); ++k) {
        const ReferenceWeight weight = reference_weight(w, o, k);
        const float value = std::fma(static_cast<float>(weight.scale), static_cast<float>(weight.q),
                                     static_cast<float>(weight.bias));
        acc[k % 16] = std::fma(problem.x[row * k_count + k], value, acc[k % 16]);
      }
      for (int64_t g = 0; g < (problem.quantize ? k_count / 32 : 0); ++g) {
        const ActivationBlock& x = quantized[row * activation_blocks(k_count) + g / 16];
        const int64_t lane = activation_lane(g);
        if (w.encoding == Encoding::kBlocks && w.block == BlockType::kQ6_K) {
          const float t = q6_k_term(w, o, g, x);
          acc[g % 16] = std::fma(x.scale[lane], t, acc[g % 16]);
          continue;
        }
        int32_t d = 0;
        for (int64_t k = 32 * g; k < 32 * g + 32; ++k) {
          d += reference_weight(w, o, k).q * x.q[activation_place(k)];
        }
        const ReferenceWeight weight = reference_weight(w, o, 32 * g);
        const float bias_term = static_cast<float>(weight.bias) * x.sum[lane];
        const float t =
            std::fma(static_cast<float>(weight.scale), static_cast<float>(d), bias_term);
        acc[g % 16] = std::fma(x.scale[lane], t, acc[g % 16]);
      }
      y.push_back(tree(acc));
    }
  }
  return y;
}

// One row, a few and many take different paths.
TEST(Linear, FollowsTheStatedOrderInEveryContext) {
  for (int64_t rows : {1, 3, 6}) {
    for_each_problem(rows, 5, [](const Problem& problem) {
      const std::vector<float> want = in_stated_order(problem);
      for_each_context([&](const CpuContext& context, const std::string& name) {
        EXPECT_EQ(compare_bits(problem.test, problem.run(context), want), "") << name;
      });
    });
  }
}

TEST(Linear, CoversEveryNumberOfOutputsAndRows) {
  for (const WeightKind& kind : {dense(DType::kBF16), affine(4, 64), affine(8, 32), affine(3, 64),
                                 blocks(BlockType::kQ8_0), blocks(BlockType::kQ4_0)}) {
    for (const Shape& shape :
         {Shape{1, 1, 64}, Shape{2, 2, 64}, Shape{4, 3, 576}, Shape{5, 4, 64}, Shape{7, 15, 64},
          Shape{15, 16, 64}, Shape{16, 17, 576}, Shape{17, 31, 64}, Shape{33, 33, 64},
          Shape{65, 7, 64}, Shape{130, 2, 64}, Shape{1, 512, 64}, Shape{0, 5, 64}}) {
      for (bool int8 : {false, true}) {
        if (int8 && !kind.takes_int8()) continue;
        const Problem problem(kind, shape, int8);
        const std::vector<float> want = in_stated_order(problem);
        for_each_context([&](const CpuContext& context, const std::string& name) {
          EXPECT_EQ(compare_bits(problem.test, problem.run(context), want), "") << name;
        });
      }
    }
  }
}

// The largest integers meet: a sum in too narrow a type would wrap or saturate.
TEST(Linear, TakesTheLargestIntegers) {
  for (int bits : {2, 3, 4, 5, 6, 8}) {
    Problem problem(affine(bits, 64), {6, 5, 1024}, true);
    problem.weight.set_all_bits();
    for (size_t i = 0; i < problem.x.size(); ++i) problem.x[i] = i / 1024 % 2 == 0 ? 3.0f : -3.0f;
    const auto quantized = quantized_rows(default_context(), problem.x.data(), 6, 1024);
    EXPECT_EQ(*std::max_element(quantized[0].q, quantized[0].q + 512), 127);
    const std::vector<float> want = in_stated_order(problem);
    for_each_context([&](const CpuContext& context, const std::string& name) {
      EXPECT_EQ(compare_bits(problem.test, problem.run(context), want), "") << name;
    });
  }
}

// All bytes the same, but for the binary16 factors, which would be NaN.
TEST(Linear, TakesTheLargestIntegersOfBlocks) {
  for (const BlockType type :
       {BlockType::kQ4_0, BlockType::kQ8_0, BlockType::kQ4_K, BlockType::kQ5_K, BlockType::kQ6_K}) {
    for (const int fill : {0xff, 0x00, 0x80, 0x7f}) {
      Problem problem(blocks(type), {6, 5, 1024}, true);
      problem.weight.fill_blocks(static_cast<std::byte>(fill));
      for (size_t i = 0; i < problem.x.size(); ++i) problem.x[i] = i / 1024 % 2 == 0 ? 3.0f : -3.0f;
      const std::vector<float> want = in_stated_order(problem);
      for_each_context([&](const CpuContext& context, const std::string& name) {
        EXPECT_EQ(compare_bits(problem.test, problem.run(context), want), "") << name;
      });
    }
  }
}

TEST(Linear, WritesOnlyItsOutputsOfWiderRows) {
  const Problem problem(affine(4, 64), {6, 5, 128}, false);
  const std::vector<float> want = problem.run(default_context());
  constexpr int64_t kStride = 8;
  Guarded y(6 * kStride);
  LinearArgs args = problem.args(nullptr, y.data());
  args.y_stride = kStride;
  run_linear(default_context(), args);
  EXPECT_EQ(y.check(true), "");
  for (int64_t i = 0; i < 6 * kStride; ++i) {
    const float got = y.values()[i];
    if (i % kStride < 5) {
      EXPECT_EQ(got, want[i / kStride * 5 + i % kStride]);
    } else {
      EXPECT_NE(got, got);
    }
  }
}

}  // namespace
}  // namespace lockstep::contract
