#include <algorithm>
#include <cmath>

#include "base/real_math.h"
#include "kernels/contract/op_contracts.h"
#include "kernels/delta_gates/delta_gates.h"
#include "kernels/delta_gates/reference.h"

namespace lockstep::contract {
namespace {

class DeltaGatesProblem final : public Problem {
 public:
  DeltaGatesProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), heads_(shape.at("heads")) {
    // The ranges of real models, where g goes from -316 to 0.
    Random random(options.seed);
    a_ = random.normals(total() * heads_, 6.0);
    b_ = random.normals(total() * heads_, stress() ? 2.0 : 10.0);
    negative_a_ = random.uniforms(heads_, -12.0, -1e-3);
    dt_bias_ = random.uniforms(heads_, -6.0, 20.0);
    disturb(a_, heads_);
    disturb(b_, heads_);
  }

  std::vector<OutputSpec> outputs() const override { return {{"decay", heads_}, {"beta", heads_}}; }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> a = gather(a_, heads_, segments), b = gather(b_, heads_, segments);
    DeltaGatesArgs args = arguments(a, b, rows_of(segments));
    args.decay = out.data(0);
    args.beta = out.data(1);
    run_delta_gates(context, args);
  }

  Expected reference(int64_t) const override {
    std::vector<double> decay(a_.size()), beta(a_.size()), decay_bound, beta_bound;
    reference_delta_gates(arguments(a_, b_, total()), decay.data(), beta.data());
    for (size_t i = 0; i < a_.size(); ++i) {
      const size_t head = i % static_cast<size_t>(heads_);
      const double x = static_cast<double>(a_[i]) + dt_bias_[head];
      decay_bound.push_back(delta_gates_decay_error(decay[i], x, negative_a_[head],
                                                    real_math::log1p(real_math::exp(x))));
      beta_bound.push_back(delta_gates_beta_error(beta[i]));
    }
    Expected expected;
    expected.add(0, decay, decay_bound);
    expected.add(1, beta, beta_bound);
    return expected;
  }

 private:
  DeltaGatesArgs arguments(const std::vector<float>& a, const std::vector<float>& b,
                           int64_t rows) const {
    return {.a = a.data(),
            .b = b.data(),
            .negative_a = negative_a_.data(),
            .dt_bias = dt_bias_.data(),
            .rows = rows,
            .heads = heads_};
  }

  int64_t heads_;
  std::vector<float> a_, b_, negative_a_, dt_bias_;
};

}  // namespace

OpContract delta_gates_contract() {
  return {.op = "delta_gates",
          .make = make_problem<DeltaGatesProblem>,
          .kernels = delta_gates_kernels,
          .limits = no_limits,
          .work = [](const ShapeClass& shape) { return shape.at("heads"); },
          .test_shapes =
              [] { return shapes("delta_gates", {"heads"}, {{1}, {15}, {16}, {17}, {48}, {128}}); },
          .twin = "only rounds its results (there is no sum)"};
}

}  // namespace lockstep::contract
