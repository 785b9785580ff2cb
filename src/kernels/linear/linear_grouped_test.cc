#include <gtest/gtest.h>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/test_matrix.h"

namespace lockstep::contract {
namespace {

// Experts of `n` outputs that lie `stride` rows apart, and slots of rows sorted by expert.
struct Grouped {
  Grouped(const WeightKind& kind, std::vector<int64_t> slots_per_expert, int64_t outputs,
          int64_t stride)
      : experts(static_cast<int64_t>(slots_per_expert.size())),
        n(outputs),
        weight(kind, experts * stride, kK, 5) {
    stack = {.first = weight.view().row_slice(0, n), .count = experts, .stride_rows = stride};
    begin.push_back(0);
    for (int64_t count : slots_per_expert) begin.push_back(begin.back() + count);
    Random random(6);
    for (int64_t slot = 0; slot < slots(); ++slot) {
      x_row.push_back(random.below(kRows));
      y_row.push_back(slot);
    }
    for (int64_t slot = slots() - 1; slot > 0; --slot) {
      std::swap(y_row[slot], y_row[random.below(slot + 1)]);
    }
    x = random.normals(kRows * kK);
  }
  int64_t slots() const { return begin.back(); }

  static constexpr int64_t kK = 640;
  static constexpr int64_t kRows = 19;
  int64_t experts, n;
  TestMatrix weight;
  MatrixStack stack;
  std::vector<int64_t> begin, x_row, y_row;
  std::vector<float> x;
};

std::vector<float> one_by_one(const Grouped& grouped, const ActivationBlock* quantized) {
  std::vector<float> y(static_cast<size_t>(grouped.slots() * grouped.n));
  const int64_t blocks = activation_blocks(Grouped::kK);
  for (int64_t e = 0; e < grouped.experts; ++e) {
    for (int64_t slot = grouped.begin[e]; slot < grouped.begin[e + 1]; ++slot) {
      const int64_t row = grouped.x_row[slot];
      run_linear(default_context(),
                 {.weight = grouped.stack.at(e),
                  .x = grouped.x.data() + row * Grouped::kK,
                  .x_quantized = quantized == nullptr ? nullptr : quantized + row * blocks,
                  .rows = 1,
                  .y = y.data() + grouped.y_row[slot] * grouped.n,
                  .y_stride = grouped.n});
    }
  }
  return y;
}

TEST(LinearGrouped, EqualsLinearOfEachRowWithItsMatrix) {
  for (const WeightKind& kind :
       {dense(DType::kF32), dense(DType::kBF16), affine(4, 64), affine(8, 32), affine(3, 128)}) {
    for (bool int8 : {false, true}) {
      for (const std::vector<int64_t>& slots :
           {std::vector<int64_t>{3, 0, 0, 1, 40, 0, 2}, {0, 0, 1}, {1, 0}, {0, 0}, {17}}) {
        for (const auto& [n, stride] : {std::pair<int64_t, int64_t>{37, 37}, {8, 16}, {1, 3}}) {
          const Grouped grouped(kind, slots, n, stride);
          const auto rows =
              quantized_rows(default_context(), grouped.x.data(), Grouped::kRows, Grouped::kK);
          const ActivationBlock* quantized = int8 ? rows.data() : nullptr;
          const std::vector<float> want = one_by_one(grouped, quantized);
          const Case test{kind.name(), {grouped.slots(), n}, 5};
          for_each_context([&](const CpuContext& context, const std::string& name) {
            Guarded y(grouped.slots() * n);
            run_linear_grouped(context, {.weight = grouped.stack,
                                         .slot_begin = grouped.begin.data(),
                                         .x_row = grouped.x_row.data(),
                                         .y_row = grouped.y_row.data(),
                                         .x = grouped.x.data(),
                                         .x_quantized = quantized,
                                         .y = y.data()});
            EXPECT_EQ(y.check(), "") << name;
            EXPECT_EQ(compare_bits(test, y.values(), want), "") << name;
          });
        }
      }
    }
  }
}

}  // namespace
}  // namespace lockstep::contract
