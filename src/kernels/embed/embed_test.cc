#include "kernels/embed/embed.h"

#include <gtest/gtest.h>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/embed/reference.h"
#include "kernels/linear/test_matrix.h"

namespace lockstep::contract {
namespace {

TEST(Embed, IsTheRoundedFloat64RowInEveryContext) {
  std::vector<WeightKind> kinds = {dense(DType::kF32), dense(DType::kF16), dense(DType::kBF16)};
  for (int bits : {2, 3, 4, 5, 6, 8}) {
    for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      kinds.push_back(affine(bits, 32, dtype));
      kinds.push_back(affine(bits, 64, dtype));
    }
  }
  for (int i = 0; i < kBlockTypes; ++i) kinds.push_back(blocks(static_cast<BlockType>(i)));
  for (const WeightKind& kind : kinds) {
    const bool is_dense = kind.encoding == Encoding::kDense;
    const std::vector<int64_t> lengths = is_dense ? std::vector<int64_t>{1, 15, 16, 31, 33, 100}
                                         : kind.encoding == Encoding::kAffine
                                             ? std::vector<int64_t>{64, 192}
                                             : std::vector<int64_t>{256, 768};
    for (int64_t cols : lengths) {
      const TestMatrix table(kind, 11, cols, 3);
      const std::vector<int32_t> ids = {10, 0, 3, 3, 7};
      EmbedArgs args{.table = table.view(), .ids = ids.data(), .rows = 5};
      std::vector<double> exact(static_cast<size_t>(5 * cols));
      reference_embed(args, exact.data());
      // Float64 holds scale * q + bias exactly, or to far more bits than the rounding needs.
      const std::vector<float> want(exact.begin(), exact.end());
      for_each_context([&](const CpuContext& context, const std::string& name) {
        Guarded out(5 * cols);
        args.out = out.data();
        run_embed(context, args);
        EXPECT_EQ(out.check(), "") << name;
        EXPECT_EQ(compare_bits({kind.name(), {5, cols}, 3}, out.values(), want), "") << name;
      });
    }
  }
}

TEST(Embed, TakesNoRows) {
  const TestMatrix table(affine(4, 64), 2, 64, 3);
  run_embed(default_context(), {.table = table.view()});
}

}  // namespace
}  // namespace lockstep::contract
