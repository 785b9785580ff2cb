#include <algorithm>
#include <cmath>

#include "kernels/contract/op_contracts.h"
#include "kernels/moe_route/moe_route.h"
#include "kernels/moe_route/reference.h"

namespace lockstep::contract {
namespace {

class MoeRouteProblem final : public Problem {
 public:
  MoeRouteProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), experts_(shape.at("experts")), chosen_(shape.at("chosen")) {
    Random random(options.seed);
    logits_ = stress() ? random.uniforms(total() * experts_, 0.0, 0.3)
                       : random.normals(total() * experts_, 4.0);
    // Every second row has few distinct values, so that most of its choices are ties.
    for (int64_t i = 0; i < total() * experts_ && !stress(); ++i) {
      float& logit = logits_[static_cast<size_t>(i)];
      if (i / experts_ % 2 == 1) logit = std::round(logit * 0.5f);
    }
    disturb(logits_, experts_);
  }

  std::vector<OutputSpec> outputs() const override {
    return {{"weights", chosen_}, {"ids", chosen_}};
  }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> logits = gather(logits_, experts_, segments);
    GuardedArray<int32_t> ids(rows_of(segments) * chosen_);
    run_moe_route(context, {.logits = logits.data(),
                            .rows = rows_of(segments),
                            .experts = experts_,
                            .chosen = chosen_,
                            .ids = ids.data(),
                            .weights = out.data(0)});
    if (std::string wrong = ids.check(); !wrong.empty()) out.fail("ids: " + wrong);
    std::copy(ids.values().begin(), ids.values().end(), out.data(1));
  }

  Expected reference(int64_t) const override {
    std::vector<int32_t> ids(static_cast<size_t>(total() * chosen_));
    std::vector<double> weights(ids.size()), bound;
    reference_moe_route(
        {.logits = logits_.data(), .rows = total(), .experts = experts_, .chosen = chosen_},
        ids.data(), weights.data());
    for (int64_t row = 0; row < total(); ++row) {
      const double error = moe_route_error(chosen_, spread(row, ids));
      for (int64_t j = 0; j < chosen_; ++j) {
        bound.push_back(error * weights[static_cast<size_t>(row * chosen_ + j)]);
      }
    }
    Expected expected;
    expected.add(0, weights, bound);
    expected.add_exact(1, std::vector<double>(ids.begin(), ids.end()));
    return expected;
  }

  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      if (value.output == 1) {
        values.push_back(value.want);
        continue;
      }
      // Weights stand first, so those of the row are values[row * k ...]: e_j = w_j / w_0.
      const auto row = static_cast<size_t>(value.index / chosen_ * chosen_);
      const double best = expected.values[row].want;
      const double sum = narrow_chain(type, chosen_, [&](int64_t j) {
        return expected.values[row + static_cast<size_t>(j)].want / best;
      });
      values.push_back(value.want / best / sum);
    }
    return values;
  }

 private:
  // Largest minus smallest chosen logit, infinities left out: those have weight 0 exactly.
  double spread(int64_t row, const std::vector<int32_t>& ids) const {
    double largest = -INFINITY, smallest = INFINITY;
    for (int64_t j = 0; j < chosen_; ++j) {
      const int32_t id = ids[static_cast<size_t>(row * chosen_ + j)];
      const double logit = logits_[static_cast<size_t>(row * experts_ + id)];
      if (!std::isfinite(logit)) continue;
      largest = std::fmax(largest, logit);
      smallest = std::fmin(smallest, logit);
    }
    return largest - smallest;
  }

  int64_t experts_, chosen_;
  std::vector<float> logits_;
};

}  // namespace

OpContract moe_route_contract() {
  return {.op = "moe_route",
          .make = make_problem<MoeRouteProblem>,
          .kernels = moe_route_kernels,
          .limits =
              [](const ShapeClass& shape) {
                return std::vector<Limit>{{.what = "chosen experts",
                                           .value = shape.at("chosen"),
                                           .at_most = shape.at("experts")}};
              },
          .work = [](const ShapeClass& shape) { return shape.at("experts"); },
          .test_shapes =
              [] {
                return shapes("moe_route", {"experts", "chosen"},
                              {{16, 4}, {256, 8}, {512, 10}, {17, 17}, {40, 20}});
              },
          .twin = "sums the chosen weights in the type"};
}

}  // namespace lockstep::contract
