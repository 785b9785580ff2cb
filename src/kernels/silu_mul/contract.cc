#include <algorithm>
#include <cmath>

#include "kernels/contract/op_contracts.h"
#include "kernels/silu_mul/reference.h"
#include "kernels/silu_mul/silu_mul.h"

namespace lockstep::contract {
namespace {

class SiluMulProblem final : public Problem {
 public:
  SiluMulProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), n_(shape.at("n")) {
    Random random(options.seed);
    gate_ = random.uniforms(total() * n_, stress() ? 0.5 : -110.0, 30.0);
    up_ = random.normals(total() * n_, 3.0);
    disturb(gate_, n_);
  }

  std::vector<OutputSpec> outputs() const override { return {{"y", n_}}; }
  int ways() const override { return 3; }  // into memory of its own, over gate, over up

  void call(const CpuContext& context, std::span<const Segment> segments, int way,
            CallOutputs& out) override {
    const std::vector<float> gate = gather(gate_, n_, segments), up = gather(up_, n_, segments);
    SiluMulArgs args = {
        .gate = gate.data(), .up = up.data(), .rows = rows_of(segments), .n = n_, .y = out.data(0)};
    if (way > 0) {
      const std::vector<float>& over = way == 1 ? gate : up;
      std::copy(over.begin(), over.end(), out.data(0));
      (way == 1 ? args.gate : args.up) = out.data(0);
    }
    run_silu_mul(context, args);
  }

  Expected reference(int64_t) const override {
    std::vector<double> y(gate_.size()), bound;
    reference_silu_mul({.gate = gate_.data(), .up = up_.data(), .rows = total(), .n = n_},
                       y.data());
    for (size_t i = 0; i < y.size(); ++i) bound.push_back(silu_mul_error(y[i], up_[i]));
    Expected expected;
    expected.add(0, y, bound);
    return expected;
  }

 private:
  int64_t n_;
  std::vector<float> gate_, up_;
};

}  // namespace

OpContract silu_mul_contract() {
  return {.op = "silu_mul",
          .make = make_problem<SiluMulProblem>,
          .kernels = silu_mul_kernels,
          .limits = no_limits,
          .work = [](const ShapeClass& shape) { return shape.at("n"); },
          .test_shapes =
              [] { return shapes("silu_mul", {"n"}, {{1}, {15}, {16}, {17}, {33}, {5000}}); },
          .twin = "only rounds its result (there is no sum)"};
}

}  // namespace lockstep::contract
