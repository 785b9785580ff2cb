#include <cmath>

#include "kernels/contract/op_contracts.h"
#include "kernels/linear/quantized_rows.h"
#include "kernels/linear/reference.h"

namespace lockstep::contract {
namespace {

class QuantizeRowsProblem final : public Problem {
 public:
  QuantizeRowsProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), k_(shape.at("k")), groups_(activation_groups(k_)) {
    x_ = stress() ? like_terms(total(), k_, options.seed)
                  : Random(options.seed).normals(total() * k_, 3.0);
    disturb(x_, k_);
  }

  std::vector<OutputSpec> outputs() const override {
    return {{"scale", groups_}, {"sum", groups_}, {"q", groups_ * kActivationGroup}};
  }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> x = gather(x_, k_, segments);
    GuardedArray<int8_t> q(rows_of(segments) * groups_ * kActivationGroup);
    run_quantize_rows(context, {.x = x.data(),
                                .rows = rows_of(segments),
                                .k = k_,
                                .out = {q.data(), out.data(0), out.data(1)}});
    if (std::string wrong = q.check(); !wrong.empty()) out.fail("q: " + wrong);
    std::copy(q.values().begin(), q.values().end(), out.data(2));
  }

  Expected reference(int64_t) const override {
    std::vector<double> scale(static_cast<size_t>(total() * groups_)), sum(scale);
    std::vector<double> q(scale.size() * kActivationGroup);
    reference_quantize_rows({.x = x_.data(), .rows = total(), .k = k_, .out = {}}, scale.data(),
                            sum.data(), q.data());
    Expected expected;
    expected.add_exact(0, scale);
    expected.add_exact(1, sum);
    expected.add_exact(2, q);
    return expected;
  }

  // Stress groups hold 127 throughout; only their sums are sums.
  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      const double term = value.want / static_cast<double>(kActivationGroup);
      values.push_back(value.output == 1
                           ? narrow_chain(type, kActivationGroup, [&](int64_t) { return term; })
                           : value.want);
    }
    return values;
  }

 private:
  int64_t k_, groups_;
  std::vector<float> x_;
};

}  // namespace

OpContract quantize_rows_contract() {
  return {
      .op = "quantize_rows",
      .make = make_problem<QuantizeRowsProblem>,
      .kernels = quantize_rows_kernels,
      .limits = no_limits,
      .work = [](const ShapeClass& shape) { return shape.at("k"); },
      .test_shapes =
          [] { return shapes("quantize_rows", {"k"}, {{33}, {64}, {511}, {512}, {513}, {1120}}); },
      .twin = "sums the integers of a group in the type"};
}

}  // namespace lockstep::contract
