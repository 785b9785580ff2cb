#include <algorithm>
#include <cmath>

#include "kernels/contract/op_contracts.h"
#include "kernels/l2_norm/l2_norm.h"
#include "kernels/l2_norm/reference.h"

namespace lockstep::contract {
namespace {

class L2NormProblem final : public Problem {
 public:
  L2NormProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options),
        heads_(shape.at("heads")),
        n_(shape.at("n")),
        stride_(shape.at("stride")) {
    x_ = stress() ? like_terms(total(), stride_, options.seed)
                  : rows_of_all_sizes(total(), stride_, options.seed);
    disturb(x_, stride_);
  }

  std::vector<OutputSpec> outputs() const override { return {{"x", stride_}}; }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> x = gather(x_, stride_, segments);
    std::copy(x.begin(), x.end(), out.data(0));
    run_l2_norm(context, arguments(out.data(0), rows_of(segments)));
  }

  // What lies behind the heads in a row stays as it is.
  Expected reference(int64_t) const override {
    std::vector<double> heads(static_cast<size_t>(total() * heads_ * n_)), y, bound;
    std::vector<float> x = x_;
    reference_l2_norm(arguments(x.data(), total()), heads.data());
    for (int64_t i = 0; i < total() * stride_; ++i) {
      const int64_t row = i / stride_, column = i % stride_;
      const bool normed = column < heads_ * n_;
      y.push_back(normed ? heads[static_cast<size_t>(row * heads_ * n_ + column)]
                         : x_[static_cast<size_t>(i)]);
      bound.push_back(normed ? l2_norm_error(n_) * std::fabs(y.back()) + kTiny : 0.0);
    }
    Expected expected;
    expected.add(0, y, bound);
    return expected;
  }

  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      if (value.index % stride_ >= heads_ * n_) {
        values.push_back(value.want);
        continue;
      }
      // Stress rows hold one value throughout.
      const double x = x_[static_cast<size_t>(value.index)];
      const double squares = narrow_lane_sum(type, n_, [&](int64_t) { return x * x; });
      values.push_back(x / std::sqrt(squares + kL2NormEps) * kScale);
    }
    return values;
  }

 private:
  static constexpr float kScale = 0.088388346f;

  L2NormArgs arguments(float* x, int64_t rows) const {
    return {.x = x, .rows = rows, .stride = stride_, .heads = heads_, .n = n_, .scale = kScale};
  }

  int64_t heads_, n_, stride_;
  std::vector<float> x_;
};

}  // namespace

OpContract l2_norm_contract() {
  return {
      .op = "l2_norm",
      .make = make_problem<L2NormProblem>,
      .kernels = l2_norm_kernels,
      .limits = no_limits,
      .work = [](const ShapeClass& shape) { return shape.at("stride"); },
      .test_shapes =
          [] {
            return shapes(
                "l2_norm", {"heads", "n", "stride"},
                {{3, 1, 8}, {3, 15, 50}, {3, 16, 48}, {2, 17, 40}, {3, 128, 389}, {1, 255, 255}});
          },
      .twin = "sums the squares in the type"};
}

}  // namespace lockstep::contract
