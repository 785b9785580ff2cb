#include <algorithm>
#include <cmath>

#include "kernels/contract/op_contracts.h"
#include "kernels/sigmoid_mul/reference.h"
#include "kernels/sigmoid_mul/sigmoid_mul.h"

namespace lockstep::contract {
namespace {

class SigmoidMulProblem final : public Problem {
 public:
  SigmoidMulProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), n_(shape.at("n")), stride_(shape.at("gate_stride")) {
    Random random(options.seed);
    x_ = random.normals(total() * n_, 3.0);
    gate_ = random.uniforms(total() * stride_, lowest_gate(), 30.0);
    disturb(x_, n_);
    if (options.inputs == Inputs::kNonFinite) disturb(gate_, stride_);
  }

  std::vector<OutputSpec> outputs() const override { return {{"y", n_}}; }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> x = gather(x_, n_, segments), gate = gather(gate_, stride_, segments);
    std::copy(x.begin(), x.end(), out.data(0));
    run_sigmoid_mul(context, arguments(out.data(0), gate, rows_of(segments)));
  }

  Expected reference(int64_t) const override {
    std::vector<double> y(x_.size()), bound;
    std::vector<float> x = x_;
    reference_sigmoid_mul(arguments(x.data(), gate_, total()), y.data());
    for (size_t i = 0; i < y.size(); ++i) bound.push_back(sigmoid_mul_error(y[i], x_[i]));
    Expected expected;
    expected.add(0, y, bound);
    return expected;
  }

 private:
  // Below -88.7 the sigmoid is 0, and an infinite x becomes NaN, as the header says.
  double lowest_gate() const {
    return stress() ? 0.5 : options().inputs == Inputs::kNonFinite ? -80.0 : -110.0;
  }

  // The gates end each row, as in the output of q_proj.
  SigmoidMulArgs arguments(float* x, const std::vector<float>& gate, int64_t rows) const {
    return {
        .x = x, .gate = gate.data() + stride_ - n_, .gate_stride = stride_, .rows = rows, .n = n_};
  }

  int64_t n_, stride_;
  std::vector<float> x_, gate_;
};

}  // namespace

OpContract sigmoid_mul_contract() {
  return {.op = "sigmoid_mul",
          .make = make_problem<SigmoidMulProblem>,
          .kernels = sigmoid_mul_kernels,
          .limits = no_limits,
          .work = [](const ShapeClass& shape) { return shape.at("n"); },
          .test_shapes =
              [] {
                return shapes("sigmoid_mul", {"n", "gate_stride"},
                              {{1, 2}, {15, 30}, {16, 32}, {17, 35}, {33, 33}, {256, 512}});
              },
          .twin = "only rounds its result (there is no sum)"};
}

}  // namespace lockstep::contract
