#include <algorithm>
#include <cmath>

#include "kernels/contract/op_contracts.h"
#include "kernels/moe_combine/moe_combine.h"
#include "kernels/moe_combine/reference.h"

namespace lockstep::contract {
namespace {

class MoeCombineProblem final : public Problem {
 public:
  MoeCombineProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), chosen_(shape.at("chosen")), n_(shape.at("n")) {
    Random random(options.seed);
    down_ = stress() ? like_terms(total() * n_, chosen_, options.seed)
                     : random.normals(total() * chosen_ * n_);
    weights_ = random.uniforms(total() * chosen_, stress() ? 1.0 : 0.0, stress() ? 1.0 : 0.5);
    shared_ = random.normals(total() * n_, stress() ? 0.0 : 1.0);
    gate_ = random.normals(total(), 4.0);
    disturb(down_, chosen_ * n_);
    if (options.inputs == Inputs::kNonFinite) disturb(gate_, 1);
  }

  std::vector<OutputSpec> outputs() const override { return {{"y", n_}}; }
  int ways() const override { return 2; }  // y apart from shared, y over shared

  void call(const CpuContext& context, std::span<const Segment> segments, int way,
            CallOutputs& out) override {
    const std::vector<float> down = gather(down_, chosen_ * n_, segments);
    const std::vector<float> weights = gather(weights_, chosen_, segments);
    const std::vector<float> shared = gather(shared_, n_, segments);
    const std::vector<float> gate = gather(gate_, 1, segments);
    MoeCombineArgs args = {.down = down.data(),
                           .weights = weights.data(),
                           .shared = shared.data(),
                           .gate = gate.data(),
                           .rows = rows_of(segments),
                           .chosen = chosen_,
                           .n = n_,
                           .y = out.data(0)};
    if (way == 1) {
      std::copy(shared.begin(), shared.end(), out.data(0));
      args.shared = out.data(0);
    }
    run_moe_combine(context, args);
  }

  Expected reference(int64_t) const override {
    std::vector<double> y(shared_.size()), bound(shared_.size());
    reference_moe_combine({.down = down_.data(),
                           .weights = weights_.data(),
                           .shared = shared_.data(),
                           .gate = gate_.data(),
                           .rows = total(),
                           .chosen = chosen_,
                           .n = n_},
                          y.data(), bound.data());
    Expected expected;
    expected.add(0, y, bound);
    return expected;
  }

  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      const int64_t row = value.index / n_;
      values.push_back(narrow_chain(type, chosen_, [&](int64_t j) {
        const int64_t slot = row * chosen_ + j;
        return static_cast<double>(down_[static_cast<size_t>(slot * n_ + value.index % n_)]);
      }));
    }
    return values;
  }

 private:
  int64_t chosen_, n_;
  std::vector<float> down_, weights_, shared_, gate_;
};

}  // namespace

OpContract moe_combine_contract() {
  return {.op = "moe_combine",
          .make = make_problem<MoeCombineProblem>,
          .kernels = moe_combine_kernels,
          .limits = no_limits,
          .work = [](const ShapeClass& shape) { return shape.at("chosen") * shape.at("n"); },
          .test_shapes =
              [] {
                return shapes("moe_combine", {"chosen", "n"},
                              {{4, 1}, {4, 15}, {8, 16}, {10, 17}, {8, 33}, {8, 2048}});
              },
          .twin = "sums the experts in the type"};
}

}  // namespace lockstep::contract
