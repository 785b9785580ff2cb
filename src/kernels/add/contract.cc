#include <algorithm>
#include <cmath>

#include "kernels/add/add.h"
#include "kernels/add/reference.h"
#include "kernels/contract/op_contracts.h"

namespace lockstep::contract {
namespace {

class AddProblem final : public Problem {
 public:
  AddProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), n_(shape.at("n")) {
    Random random(options.seed);
    x_ = random.normals(total() * n_);
    y_ = random.normals(total() * n_, 1e-3);
    disturb(x_, n_);
  }

  std::vector<OutputSpec> outputs() const override { return {{"sum", n_}}; }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> x = gather(x_, n_, segments), y = gather(y_, n_, segments);
    std::copy(x.begin(), x.end(), out.data(0));
    run_add(context, {.x = out.data(0), .y = y.data(), .rows = rows_of(segments), .n = n_});
  }

  Expected reference(int64_t) const override {
    std::vector<double> sum(x_.size());
    std::vector<float> x = x_;
    reference_add({.x = x.data(), .y = y_.data(), .rows = total(), .n = n_}, sum.data());
    Expected expected;
    expected.add_exact(0, sum);
    return expected;
  }

 private:
  int64_t n_;
  std::vector<float> x_, y_;
};

}  // namespace

OpContract add_contract() {
  return {.op = "add",
          .make = make_problem<AddProblem>,
          .kernels = add_kernels,
          .limits = no_limits,
          .work = [](const ShapeClass& shape) { return shape.at("n"); },
          .test_shapes = [] { return shapes("add", {"n"}, {{1}, {15}, {16}, {17}, {33}, {5000}}); },
          .twin = "rounds the sum of the two"};
}

}  // namespace lockstep::contract
