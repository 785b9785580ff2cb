#include <algorithm>
#include <cmath>

#include "kernels/contract/op_contracts.h"
#include "kernels/rms_norm/reference.h"
#include "kernels/rms_norm/rms_norm.h"

namespace lockstep::contract {
namespace {

constexpr float kEps = 1e-6f;

// x / rms by a sum of squares in a narrow type. Stress rows hold one value throughout.
double narrow_normed(Narrow type, int64_t n, double x) {
  const double squares = narrow_lane_sum(type, n, [&](int64_t) { return x * x; });
  return x / std::sqrt(squares / static_cast<double>(n) + kEps);
}

class RmsNormProblem final : public Problem {
 public:
  RmsNormProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), n_(shape.at("n")), stride_(shape.at("x_stride")) {
    Random random(options.seed);
    x_ = stress() ? like_terms(total(), stride_, options.seed)
                  : rows_of_all_sizes(total(), stride_, options.seed);
    weight_ = random.uniforms(n_, 0.5, 2.0);
    disturb(x_, stride_);
  }

  std::vector<OutputSpec> outputs() const override { return {{"y", n_}}; }
  int ways() const override { return stride_ == n_ ? 2 : 1; }  // y apart from x, y over x

  void call(const CpuContext& context, std::span<const Segment> segments, int way,
            CallOutputs& out) override {
    const std::vector<float> x = gather(x_, stride_, segments);
    RmsNormArgs args = arguments(x.data(), rows_of(segments));
    args.y = out.data(0);
    if (way == 1) {
      std::copy(x.begin(), x.end(), out.data(0));
      args.x = out.data(0);
    }
    run_rms_norm(context, args);
  }

  Expected reference(int64_t) const override {
    std::vector<double> y(static_cast<size_t>(total() * n_)), bound;
    reference_rms_norm(arguments(x_.data(), total()), y.data());
    for (const double value : y) bound.push_back(rms_norm_error(n_) * std::fabs(value) + kTiny);
    Expected expected;
    expected.add(0, y, bound);
    return expected;
  }

  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      const double x = x_[static_cast<size_t>(value.index / n_ * stride_)];
      values.push_back(narrow_normed(type, n_, x) * weight_[static_cast<size_t>(value.index % n_)]);
    }
    return values;
  }

 private:
  RmsNormArgs arguments(const float* x, int64_t rows) const {
    return {
        .x = x, .x_stride = stride_, .weight = weight_.data(), .eps = kEps, .rows = rows, .n = n_};
  }

  int64_t n_, stride_;
  std::vector<float> x_, weight_;
};

class RmsNormGatedProblem final : public Problem {
 public:
  RmsNormGatedProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options),
        function_(static_cast<GateFunction>(shape.at(".function"))),
        n_(shape.at("n")) {
    Random random(options.seed);
    x_ = stress() ? like_terms(total(), n_, options.seed) : random.normals(total() * n_);
    gate_ = stress() ? random.uniforms(total() * n_, 1.0, 8.0) : random.normals(total() * n_, 4.0);
    weight_ = random.uniforms(n_, 0.5, 2.0);
    disturb(x_, n_);
  }

  std::vector<OutputSpec> outputs() const override { return {{"y", n_}}; }
  int ways() const override { return 2; }  // y apart from x, y over x

  void call(const CpuContext& context, std::span<const Segment> segments, int way,
            CallOutputs& out) override {
    const std::vector<float> x = gather(x_, n_, segments), gate = gather(gate_, n_, segments);
    RmsNormGatedArgs args = arguments(x.data(), gate.data(), rows_of(segments));
    args.y = out.data(0);
    if (way == 1) {
      std::copy(x.begin(), x.end(), out.data(0));
      args.x = out.data(0);
    }
    run_rms_norm_gated(context, args);
  }

  Expected reference(int64_t) const override {
    std::vector<double> y(x_.size()), normed(x_.size()), bound;
    const RmsNormGatedArgs args = arguments(x_.data(), gate_.data(), total());
    reference_rms_norm_gated(args, y.data());
    reference_rms_norm(
        {.x = args.x, .x_stride = n_, .weight = args.weight, .eps = kEps, .rows = total(), .n = n_},
        normed.data());
    for (size_t i = 0; i < y.size(); ++i) {
      bound.push_back(rms_norm_gated_error(n_) * std::fabs(y[i]) +
                      128.0 * kSigmoidFloor * std::fabs(normed[i]) + kTiny);
    }
    Expected expected;
    expected.add(0, y, bound);
    return expected;
  }

  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      const double x = x_[static_cast<size_t>(value.index)];
      const double exact = x / std::sqrt(x * x + kEps);
      values.push_back(value.want / exact * narrow_normed(type, n_, x));
    }
    return values;
  }

 private:
  RmsNormGatedArgs arguments(const float* x, const float* gate, int64_t rows) const {
    return {.x = x,
            .gate = gate,
            .weight = weight_.data(),
            .function = function_,
            .eps = kEps,
            .rows = rows,
            .n = n_};
  }

  GateFunction function_;
  int64_t n_;
  std::vector<float> x_, gate_, weight_;
};

int64_t row_width(const ShapeClass& shape) { return shape.at("n"); }

}  // namespace

OpContract rms_norm_contract() {
  return {.op = "rms_norm",
          .make = make_problem<RmsNormProblem>,
          .kernels = rms_norm_kernels,
          .limits = no_limits,
          .work = row_width,
          .test_shapes =
              [] {
                return shapes("rms_norm", {"n", "x_stride"},
                              {{1, 1}, {15, 15}, {16, 40}, {17, 17}, {33, 48}, {1000, 1000}});
              },
          .twin = "sums the squares in the type"};
}

OpContract rms_norm_gated_contract() {
  return {.op = "rms_norm_gated",
          .make = make_problem<RmsNormGatedProblem>,
          .kernels = rms_norm_gated_kernels,
          .limits = no_limits,
          .work = row_width,
          .test_shapes =
              [] {
                return shapes("rms_norm_gated", {".function", "n"},
                              {{0, 1}, {0, 17}, {1, 33}, {0, 128}, {1, 1000}});
              },
          .twin = "sums the squares in the type"};
}

}  // namespace lockstep::contract
