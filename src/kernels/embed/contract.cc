#include <algorithm>
#include <limits>

#include "kernels/contract/op_contracts.h"
#include "kernels/embed/embed.h"
#include "kernels/embed/reference.h"
#include "kernels/linear/contract_matrix.h"
#include "kernels/linear/weight_class.h"

namespace lockstep::contract {
namespace {

class EmbedProblem final : public Problem {
 public:
  EmbedProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), table_(weight_of_class(shape), options.seed) {
    const int64_t vocabulary = table_.view().rows;
    for (int64_t row = 0; row < total(); ++row) {  // the last id among them, none twice
      ids_.push_back(static_cast<int32_t>(vocabulary - 1 - row * (vocabulary / total())));
    }
    spoil_rows();
  }

  std::vector<OutputSpec> outputs() const override { return {{"out", table_.view().cols}}; }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<int32_t> ids = gather(ids_, 1, segments);
    run_embed(
        context,
        {.table = table_.view(), .ids = ids.data(), .rows = rows_of(segments), .out = out.data(0)});
  }

  Expected reference(int64_t) const override {
    std::vector<double> out(static_cast<size_t>(total() * table_.view().cols));
    reference_embed({.table = table_.view(), .ids = ids_.data(), .rows = total()}, out.data());
    Expected expected;
    expected.add_exact(0, out);
    return expected;
  }

 private:
  void spoil_rows() {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kValues[] = {kNan, kInfinity, -kInfinity};
    const int64_t first = options().first(kSpoiltStream);
    const int64_t end = first + options().rows[kSpoiltStream];
    for (int64_t row = 0; row < total(); ++row) {
      const int32_t id = ids_[static_cast<size_t>(row)];
      const bool spoilt = options().inputs == Inputs::kSpoilt && row >= first && row < end;
      const bool strewn = options().inputs == Inputs::kNonFinite && row % 4 != 3;
      const float value = spoilt ? kNan : kValues[row % 3];
      if (spoilt || strewn) table_.spoil(id, (row * 7) % table_.view().cols, value);
    }
  }

  ContractMatrix table_;
  std::vector<int32_t> ids_;
};

std::vector<ShapeClass> test_shapes() {
  std::vector<ShapeClass> classes;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const int64_t cols : {1, 15, 33, 100}) {
      classes.push_back(weight_class("embed", {.dtype = dtype, .rows = 97, .cols = cols}));
    }
    for (const int bits : {2, 3, 4, 5, 6, 8}) {
      classes.push_back(weight_class("embed", {.encoding = Encoding::kAffine,
                                               .dtype = dtype,
                                               .bits = bits,
                                               .group = bits == 4 ? 32 : 64,
                                               .rows = 97,
                                               .cols = 192}));
    }
  }
  for (int type = 0; type < kBlockTypes; ++type) {
    classes.push_back(weight_class("embed", {.encoding = Encoding::kBlocks,
                                             .block = static_cast<BlockType>(type),
                                             .rows = 97,
                                             .cols = 512}));
  }
  return classes;
}

}  // namespace

OpContract embed_contract() {
  return {.op = "embed",
          .make = make_problem<EmbedProblem>,
          .kernels = embed_kernels,
          .limits = weight_limits,
          .work = [](const ShapeClass& shape) { return shape.at("k"); },
          .test_shapes = test_shapes,
          .twin = "only rounds its result (there is no sum)",
          .alike = [](const ShapeClass& shape) -> std::string_view {
            const MatrixView table = weight_of_class(shape);
            const bool wide = table.encoding != Encoding::kDense || table.dtype == DType::kF32;
            return wide ? "" : "no sum, and a row is the stored 16-bit values";
          }};
}

}  // namespace lockstep::contract
