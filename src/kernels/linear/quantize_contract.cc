#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/contract/op_contracts.h"
#include "kernels/linear/quantized_rows.h"
#include "kernels/linear/reference.h"

namespace lockstep::contract {
namespace {

// Values that no quantised row holds.
ActivationBlock poison() {
  ActivationBlock block;
  std::memset(&block, 0x80, sizeof(block));
  return block;
}
bool is_poison(const ActivationBlock& block) {
  const ActivationBlock want = poison();
  return std::memcmp(&block, &want, sizeof(block)) == 0;
}

class QuantizeRowsProblem final : public Problem {
 public:
  QuantizeRowsProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), k_(shape.at("k")), groups_(activation_blocks(k_) * kGroupsPerBlock) {
    x_ = stress() ? like_terms(total(), k_, options.seed)
                  : Random(options.seed).normals(total() * k_, 3.0);
    disturb(x_, k_);
  }

  std::vector<OutputSpec> outputs() const override {
    return {{"scale", groups_},
            {"sum", groups_},
            {"half_sum", groups_},
            {"q", groups_ * kActivationGroup}};
  }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> x = gather(x_, k_, segments);
    const int64_t blocks = rows_of(segments) * groups_ / kGroupsPerBlock;
    std::vector<ActivationBlock> guarded(static_cast<size_t>(blocks + 2), poison());
    ActivationBlock* stored = guarded.data() + 1;
    run_quantize_rows(context, {.x = x.data(), .rows = rows_of(segments), .k = k_, .out = stored});
    if (!is_poison(guarded.front()) || !is_poison(guarded.back())) out.fail("a write outside");
    for (int64_t b = 0; b < blocks; ++b) {
      std::copy_n(stored[b].scale, kGroupsPerBlock, out.data(0) + b * kGroupsPerBlock);
      std::copy_n(stored[b].sum, kGroupsPerBlock, out.data(1) + b * kGroupsPerBlock);
      std::copy_n(stored[b].half_sum, kGroupsPerBlock, out.data(2) + b * kGroupsPerBlock);
      std::copy_n(stored[b].q, kActivationBlock, out.data(3) + b * kActivationBlock);
    }
  }

  Expected reference(int64_t) const override {
    std::vector<double> scale(static_cast<size_t>(total() * groups_)), sum(scale), half_sum(scale);
    std::vector<double> q(scale.size() * kActivationGroup);
    reference_quantize_rows({.x = x_.data(), .rows = total(), .k = k_},
                            {scale.data(), sum.data(), half_sum.data(), q.data()});
    Expected expected;
    expected.add_exact(0, scale);
    expected.add_exact(1, sum);
    expected.add_exact(2, half_sum);
    expected.add_exact(3, q);
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
