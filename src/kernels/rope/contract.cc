#include <algorithm>
#include <cmath>

#include "kernels/contract/op_contracts.h"
#include "kernels/rope/reference.h"
#include "kernels/rope/rope.h"

namespace lockstep::contract {
namespace {

class RopeProblem final : public Problem {
 public:
  RopeProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options),
        heads_(shape.at("heads")),
        head_dim_(shape.at("head_dim")),
        rotary_(shape.at("rotary_dim")) {
    Random random(options.seed);
    x_ = random.normals(total() * width());
    cos_ = random.uniforms(total() * rotary_ / 2, -1.0, 1.0);
    sin_ = random.uniforms(total() * rotary_ / 2, -1.0, 1.0);
    disturb(x_, width());
  }

  std::vector<OutputSpec> outputs() const override { return {{"x", width()}}; }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> x = gather(x_, width(), segments);
    const std::vector<float> cosines = gather(cos_, rotary_ / 2, segments);
    const std::vector<float> sines = gather(sin_, rotary_ / 2, segments);
    std::copy(x.begin(), x.end(), out.data(0));
    run_rope(context, arguments(out.data(0), cosines, sines, rows_of(segments)));
  }

  Expected reference(int64_t) const override {
    std::vector<double> y(x_.size()), bound;
    std::vector<float> x = x_;
    reference_rope(arguments(x.data(), cos_, sin_, total()), y.data());
    for (int64_t i = 0; i < total() * width(); ++i) {
      const Terms terms = terms_at(i);
      const double size = std::fabs(terms.first) + std::fabs(terms.second);
      bound.push_back(terms.rotated ? rope_error(size) : 0.0);
    }
    Expected expected;
    expected.add(0, y, bound);
    return expected;
  }

  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      const Terms terms = terms_at(value.index);
      values.push_back(terms.rotated ? narrowed(type, narrowed(type, terms.first) + terms.second)
                                     : value.want);
    }
    return values;
  }

 private:
  // An output is the sum of these; of a dimension beyond the rotated ones it is the input.
  struct Terms {
    bool rotated = false;
    double first = 0.0, second = 0.0;
  };
  Terms terms_at(int64_t i) const {
    const int64_t d = i % head_dim_, half = rotary_ / 2, row = i / width();
    if (d >= rotary_) return {};
    const auto at = static_cast<size_t>(i);
    const auto partner = static_cast<size_t>(d < half ? i + half : i - half);
    const auto angle = static_cast<size_t>(row * half + d % half);
    const double sine = d < half ? -sin_[angle] : sin_[angle];
    return {true, static_cast<double>(x_[at]) * cos_[angle], x_[partner] * sine};
  }

  int64_t width() const { return heads_ * head_dim_; }
  RopeArgs arguments(float* x, const std::vector<float>& cosines, const std::vector<float>& sines,
                     int64_t rows) const {
    return {.x = x,
            .rows = rows,
            .heads = heads_,
            .head_dim = head_dim_,
            .rotary_dim = rotary_,
            .cos = cosines.data(),
            .sin = sines.data()};
  }

  int64_t heads_, head_dim_, rotary_;
  std::vector<float> x_, cos_, sin_;
};

}  // namespace

OpContract rope_contract() {
  return {.op = "rope",
          .make = make_problem<RopeProblem>,
          .kernels = rope_kernels,
          .limits =
              [](const ShapeClass& shape) {
                return std::vector<Limit>{{.what = "rotary_dim",
                                           .value = shape.at("rotary_dim"),
                                           .at_most = shape.at("head_dim"),
                                           .multiple_of = 2}};
              },
          .work = [](const ShapeClass& shape) { return shape.at("heads") * shape.at("head_dim"); },
          .test_shapes =
              [] {
                return shapes("rope", {"heads", "head_dim", "rotary_dim"},
                              {{3, 256, 64}, {3, 64, 64}, {1, 16, 2}, {3, 70, 30}, {2, 40, 34}});
              },
          .twin = "rounds the first product and the sum of the two"};
}

}  // namespace lockstep::contract
