#include <algorithm>
#include <cmath>

#include "kernels/contract/contexts.h"
#include "kernels/contract/op_contracts.h"
#include "kernels/linear/contract_matrix.h"
#include "kernels/linear/error_bound.h"
#include "kernels/linear/linear.h"
#include "kernels/linear/reference.h"
#include "kernels/linear/test_matrix.h"
#include "kernels/linear/weight_class.h"

namespace lockstep::contract {
namespace {

// One product of a row of the problem: with matrix `matrix` of the stack, into columns
// [matrix's slot * N, ...) of the row's output.
struct Product {
  int64_t row = 0;
  int64_t slot = 0;
  int64_t output = 0;  // of the matrix
};

// linear, or linear_grouped with two slots a row: y [rows, slots * N].
class LinearProblem : public Problem {
 public:
  LinearProblem(const ShapeClass& shape, const ProblemOptions& options, int64_t matrices,
                int64_t slots)
      : Problem(options),
        int8_(shape.at(".int8") != 0),
        n_(shape.at("n")),
        k_(shape.at("k")),
        slots_(slots),
        matrices_(matrices),
        weight_(stacked(shape, matrices), options.seed) {
    Random random(options.seed + 1);
    x_ = random.normals(total() * k_);
    if (stress()) make_stress();
    disturb(x_, k_);
    quantized_ = quantized_rows(default_context(), x_.data(), total(), k_);
  }

  std::vector<OutputSpec> outputs() const override { return {{"y", slots_ * n_}}; }

  Expected reference(int64_t most) const override {
    Expected expected;
    const int64_t width = slots_ * n_, all = total() * width;
    const int64_t step = all <= most ? 1 : std::max<int64_t>(1, width * total() / most);
    for (int64_t row = 0; row < total(); ++row) {
      for (int64_t column = 0; column < width; column += step) add(row, column, expected);
      if (step > 1) add(row, width - 1, expected);
      if (step > 1) add(row, stress_column(row), expected);
    }
    return expected;
  }

  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      const int64_t row = value.index / (slots_ * n_), column = value.index % (slots_ * n_);
      if (int8_) {
        const std::vector<double> terms = group_terms(row, column);
        values.push_back(narrow_lane_sum(type, static_cast<int64_t>(terms.size()),
                                         [&](int64_t g) { return terms[static_cast<size_t>(g)]; }));
        continue;
      }
      // Of the stress column all terms are alike; the other columns are noise.
      const double term = value.want / static_cast<double>(k_);
      values.push_back(column == stress_column(row)
                           ? narrow_lane_sum(type, k_, [&](int64_t) { return term; })
                           : value.want);
    }
    return values;
  }

 protected:
  int64_t matrix_of(int64_t row, int64_t slot) const {
    return static_cast<int64_t>(Random(static_cast<uint64_t>(row * slots_ + slot)).bits() %
                                static_cast<uint64_t>(matrices_));
  }
  MatrixView matrix(int64_t index) const { return weight_.view().row_slice(index * n_, n_); }

  // The rows of a call, as the op takes them.
  struct Rows {
    std::vector<float> x;
    std::vector<ActivationBlock> quantized;
  };
  void fill(std::span<const Segment> segments, Rows& rows) const {
    if (!int8_) {
      rows.x = gather(x_, k_, segments);
      return;
    }
    rows.quantized = gather(quantized_, activation_blocks(k_), segments);
  }

  bool int8_;
  int64_t n_, k_, slots_, matrices_;

 private:
  static MatrixView stacked(const ShapeClass& shape, int64_t matrices) {
    MatrixView all = weight_of_class(shape);
    all.rows *= matrices;
    return all;
  }

  // The output of a row whose terms are alike.
  int64_t stress_column(int64_t row) const { return row % n_; }

  // Terms alike: by the weights where activations are quantised, else by activations c / w,
  // whatever the encoding.
  void make_stress() {
    if (int8_) {
      weight_.make_alike();
      x_ = like_terms(total(), k_, options().seed);
      return;
    }
    Random random(options().seed + 2);
    std::vector<float> weights(static_cast<size_t>(k_));
    for (int64_t row = 0; row < total(); ++row) {
      decode_row(matrix(matrix_of(row, 0)), stress_column(row), weights.data());
      const double term = random.uniform(1.0, 1.2);
      for (int64_t k = 0; k < k_; ++k) {
        const float w = weights[static_cast<size_t>(k)];
        x_[static_cast<size_t>(row * k_ + k)] = w == 0.0f ? 0.0f : static_cast<float>(term / w);
      }
    }
  }

  // What each group of 32 quantised activations adds to an output, exactly.
  std::vector<double> group_terms(int64_t row, int64_t column) const {
    const MatrixView weight = matrix(matrix_of(row, column / n_));
    std::vector<double> terms(static_cast<size_t>(k_ / kActivationGroup), 0.0);
    for (int64_t k = 0; k < k_; ++k) {
      terms[static_cast<size_t>(k / kActivationGroup)] +=
          reference_weight(weight, column % n_, k).value() *
          reference_dequantized(quantized_.data(), k_, row, k);
    }
    return terms;
  }

  void add(int64_t row, int64_t column, Expected& expected) const {
    const MatrixView weight = matrix(matrix_of(row, column / n_)).row_slice(column % n_, 1);
    double want = 0.0, magnitude = 0.0;
    reference_linear(
        {.weight = weight,
         .x = x_.data() + row * k_,
         .x_quantized = int8_ ? quantized_.data() + row * activation_blocks(k_) : nullptr,
         .rows = 1},
        &want, &magnitude);
    const double bound =
        int8_ ? linear_int8_bound(k_, magnitude) : linear_float_bound(k_, magnitude);
    expected.values.push_back({0, row * slots_ * n_ + column, want, bound});
  }

  ContractMatrix weight_;
  std::vector<float> x_;
  std::vector<ActivationBlock> quantized_;
};

class PlainLinearProblem final : public LinearProblem {
 public:
  PlainLinearProblem(const ShapeClass& shape, const ProblemOptions& options)
      : LinearProblem(shape, options, 1, 1) {}

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    Rows rows;
    fill(segments, rows);
    run_linear(context, {.weight = matrix(0),
                         .x = int8_ ? nullptr : rows.x.data(),
                         .x_quantized = int8_ ? rows.quantized.data() : nullptr,
                         .rows = rows_of(segments),
                         .y = out.data(0),
                         .y_stride = n_});
  }
};

class GroupedLinearProblem final : public LinearProblem {
 public:
  GroupedLinearProblem(const ShapeClass& shape, const ProblemOptions& options)
      : LinearProblem(shape, options, shape.at("experts"), 2) {}

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    Rows rows;
    fill(segments, rows);
    std::vector<int64_t> begin = {0}, x_row, y_row;
    for (int64_t e = 0; e < matrices_; ++e) {
      int64_t row = 0;
      for (const Segment& segment : segments) {
        for (int64_t i = segment.begin; i < segment.end; ++i, ++row) {
          for (int64_t slot = 0; slot < slots_; ++slot) {
            if (matrix_of(options().first(segment.stream) + i, slot) != e) continue;
            x_row.push_back(row);
            y_row.push_back(row * slots_ + slot);
          }
        }
      }
      begin.push_back(static_cast<int64_t>(x_row.size()));
    }
    run_linear_grouped(context,
                       {.weight = {.first = matrix(0), .count = matrices_, .stride_rows = n_},
                        .slot_begin = begin.data(),
                        .x_row = x_row.data(),
                        .y_row = y_row.data(),
                        .x = int8_ ? nullptr : rows.x.data(),
                        .x_quantized = int8_ ? rows.quantized.data() : nullptr,
                        .y = out.data(0)});
  }
};

// With float32 activations, and with quantised rows where the encoding takes them.
void append_classes(const MatrixView& weight, int64_t experts, std::vector<ShapeClass>& classes) {
  const ActivationBlock rows = {};
  for (const ActivationBlock* quantized : {static_cast<const ActivationBlock*>(nullptr), &rows}) {
    ShapeClass shape = shape_class(LinearArgs{.weight = weight, .x_quantized = quantized});
    if (quantized != nullptr && shape.at(".int8") == 0) continue;
    if (experts > 0) {
      shape = shape_class(LinearGroupedArgs{
          .weight = {.first = weight, .count = experts, .stride_rows = weight.rows},
          .x_quantized = quantized});
    }
    classes.push_back(std::move(shape));
  }
}

std::vector<ShapeClass> test_shapes() {
  std::vector<ShapeClass> classes;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    append_classes({.dtype = dtype, .rows = 37, .cols = 301}, 0, classes);
  }
  for (int type = 0; type < kBlockTypes; ++type) {
    append_classes({.encoding = Encoding::kBlocks,
                    .block = static_cast<BlockType>(type),
                    .rows = 7 + type,
                    .cols = 768},
                   0, classes);
  }
  int64_t n = 5;
  for (const int bits : {2, 3, 4, 5, 6, 8}) {
    for (const int group : {32, 64, 128}) {
      append_classes({.encoding = Encoding::kAffine,
                      .dtype = DType::kBF16,
                      .bits = bits,
                      .group = group,
                      .rows = n,
                      .cols = 640},
                     0, classes);
      n = n * 3 % 31 + 1;
    }
  }
  return classes;
}

std::vector<ShapeClass> grouped_test_shapes() {
  std::vector<ShapeClass> classes;
  append_classes({.dtype = DType::kBF16, .rows = 9, .cols = 100}, 7, classes);
  append_classes({.encoding = Encoding::kAffine,
                  .dtype = DType::kF16,
                  .bits = 4,
                  .group = 64,
                  .rows = 20,
                  .cols = 576},
                 16, classes);
  return classes;
}

}  // namespace

OpContract linear_contract() {
  return {.op = "linear",
          .make = make_problem<PlainLinearProblem>,
          .kernels = linear_kernels,
          .limits = weight_limits,
          .work = [](const ShapeClass& shape) { return shape.at("n") * shape.at("k"); },
          .test_shapes = test_shapes,
          .twin = "sums over k (int8: over groups of 32) in the type"};
}

OpContract linear_grouped_contract() {
  return {.op = "linear_grouped",
          .make = make_problem<GroupedLinearProblem>,
          .kernels = linear_kernels,
          .limits = weight_limits,
          .work = [](const ShapeClass& shape) { return 2 * shape.at("n") * shape.at("k"); },
          .test_shapes = grouped_test_shapes,
          .twin = "sums over k (int8: over groups of 32) in the type"};
}

}  // namespace lockstep::contract
