#include <algorithm>
#include <cmath>

#include "base/real_math.h"
#include "kernels/contract/op_contracts.h"
#include "kernels/gated_delta/gated_delta.h"
#include "kernels/gated_delta/reference.h"

namespace lockstep::contract {
namespace {

class GatedDeltaProblem final : public Problem {
 public:
  GatedDeltaProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options),
        key_heads_(shape.at("key_heads")),
        value_heads_(shape.at("value_heads")),
        key_dim_(shape.at("key_dim")),
        value_dim_(shape.at("value_dim")) {
    Random random(options.seed);
    state_ = stress() ? like_columns(random) : random.normals(options.streams() * state_size());
    qkv_ = random.normals(total() * width());
    if (stress()) {
      std::fill(qkv_.begin(), qkv_.end(), 1.0f);
      decay_.assign(static_cast<size_t>(total() * value_heads_), 1.0f);
      beta_.assign(decay_.size(), 0.0f);
      return;
    }
    normalise_keys();
    fill_gates(random);
    disturb(qkv_, width());
  }

  std::vector<OutputSpec> outputs() const override {
    return {{"out", values()}, {"state", state_size(), true}};
  }

  std::span<const float> initial(size_t, int64_t stream) const override {
    const auto size = static_cast<size_t>(state_size());
    return std::span(state_).subspan(static_cast<size_t>(stream) * size, size);
  }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> qkv = gather(qkv_, width(), segments);
    const std::vector<float> decay = gather(decay_, value_heads_, segments);
    const std::vector<float> beta = gather(beta_, value_heads_, segments);
    std::vector<DeltaSequence> sequences;
    int64_t row = 0;
    for (size_t i = 0; i < segments.size(); ++i) {
      sequences.push_back({.first_row = row,
                           .rows = segments[i].rows(),
                           .state_in = out.before(1, i),
                           .state_out = out.data(1) + static_cast<int64_t>(i) * state_size()});
      row += segments[i].rows();
    }
    GatedDeltaArgs args = arguments(qkv, decay, beta, sequences);
    args.out = out.data(0);
    run_gated_delta(context, args);
  }

  Expected reference(int64_t) const override {
    std::vector<DeltaSequence> sequences;
    for (int64_t s = 0; s < options().streams(); ++s) {
      sequences.push_back({.first_row = options().first(s),
                           .rows = options().rows[static_cast<size_t>(s)],
                           .state_in = initial(1, s).data()});
    }
    std::vector<double> out(static_cast<size_t>(total() * values())), out_bound(out.size());
    std::vector<double> states(state_.size()),
        columns(static_cast<size_t>(options().streams() * values()));
    reference_gated_delta(arguments(qkv_, decay_, beta_, sequences),
                          {out.data(), states.data(), out_bound.data(), columns.data()});
    std::vector<double> state_bound;
    for (size_t i = 0; i < states.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t head = at / (key_dim_ * value_dim_);  // over all streams
      state_bound.push_back(columns[static_cast<size_t>(head * value_dim_ + at % value_dim_)]);
    }
    Expected expected;
    expected.add(0, out, out_bound);
    expected.add(1, states, state_bound);
    return expected;
  }

  // The stress state is only read, with a query of ones.
  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values_;
    for (const Expected::Value& value : expected.values) {
      if (value.output == 1) {
        values_.push_back(value.want);
        continue;
      }
      const double element = value.want / static_cast<double>(key_dim_);
      values_.push_back(narrow_chain(type, key_dim_, [&](int64_t) { return element; }));
    }
    return values_;
  }

 private:
  int64_t values() const { return value_heads_ * value_dim_; }
  int64_t width() const { return 2 * key_heads_ * key_dim_ + values(); }
  int64_t state_size() const { return values() * key_dim_; }

  // One value in each column.
  std::vector<float> like_columns(Random& random) const {
    const std::vector<float> columns = random.uniforms(values(), 1.0, 1.2);
    std::vector<float> state;
    for (int64_t i = 0; i < options().streams() * state_size(); ++i) {
      const int64_t head = i / (key_dim_ * value_dim_) % value_heads_;
      state.push_back(columns[static_cast<size_t>(head * value_dim_ + i % value_dim_)]);
    }
    return state;
  }

  // q and k as the model makes them: of norm 1, q scaled.
  void normalise_keys() {
    for (int64_t head = 0; head < total() * 2 * key_heads_; ++head) {
      const int64_t row = head / (2 * key_heads_), index = head % (2 * key_heads_);
      float* x = qkv_.data() + row * width() + index * key_dim_;
      double squares = 0.0;
      for (int64_t i = 0; i < key_dim_; ++i) squares += static_cast<double>(x[i]) * x[i];
      const double scale = (index < key_heads_ ? 0.1 : 1.0) / std::sqrt(squares);
      for (int64_t i = 0; i < key_dim_; ++i) x[i] = static_cast<float>(x[i] * scale);
    }
  }

  // decay = exp(g) with g from -316 to 0.
  void fill_gates(Random& random) {
    for (int64_t i = 0; i < total() * value_heads_; ++i) {
      const double kind = random.uniform();
      const double reach = kind < 0.7 ? 0.05 : kind < 0.9 ? 3.0 : 316.0;
      decay_.push_back(static_cast<float>(real_math::exp(-reach * random.uniform())));
      beta_.push_back(static_cast<float>(random.uniform()));
    }
  }

  GatedDeltaArgs arguments(const std::vector<float>& qkv, const std::vector<float>& decay,
                           const std::vector<float>& beta,
                           const std::vector<DeltaSequence>& sequences) const {
    return {.qkv = qkv.data(),
            .decay = decay.data(),
            .beta = beta.data(),
            .key_heads = key_heads_,
            .value_heads = value_heads_,
            .key_dim = key_dim_,
            .value_dim = value_dim_,
            .sequences = sequences.data(),
            .sequence_count = static_cast<int64_t>(sequences.size())};
  }

  int64_t key_heads_, value_heads_, key_dim_, value_dim_;
  std::vector<float> qkv_, decay_, beta_, state_;
};

}  // namespace

OpContract gated_delta_contract() {
  return {.op = "gated_delta",
          .make = make_problem<GatedDeltaProblem>,
          .kernels = gated_delta_kernels,
          .limits =
              [](const ShapeClass& shape) {
                return std::vector<Limit>{
                    {.what = "value_dim", .value = shape.at("value_dim"), .multiple_of = 16},
                    {.what = "value heads over key heads",
                     .value = shape.at("value_heads"),
                     .multiple_of = shape.at("key_heads")}};
              },
          .work =
              [](const ShapeClass& shape) {
                return shape.at("value_heads") * shape.at("key_dim") * shape.at("value_dim");
              },
          .test_shapes =
              [] {
                return shapes("gated_delta", {"key_heads", "value_heads", "key_dim", "value_dim"},
                              {{1, 1, 16, 16},
                               {2, 2, 15, 48},
                               {1, 3, 32, 64},
                               {2, 16, 17, 80},
                               {1, 2, 128, 128}});
              },
          .twin = "sums over the key index in the type"};
}

}  // namespace lockstep::contract
