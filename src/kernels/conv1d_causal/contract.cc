#include <algorithm>
#include <cmath>

#include "base/real_math.h"
#include "kernels/contract/op_contracts.h"
#include "kernels/conv1d_causal/conv1d_causal.h"
#include "kernels/conv1d_causal/reference.h"

namespace lockstep::contract {
namespace {

constexpr int64_t kHeld = kConvTaps - 1;  // input rows that the state holds

class Conv1dCausalProblem final : public Problem {
 public:
  Conv1dCausalProblem(const ShapeClass& shape, const ProblemOptions& options)
      : Problem(options), channels_(shape.at("channels")) {
    Random random(options.seed);
    const double low = stress() ? 1.0 : -2.0, high = stress() ? 1.2 : 2.0;
    u_ = random.uniforms(total() * channels_, low, high);
    weight_ = random.uniforms(kConvTaps * channels_, low, high);
    state_ = random.uniforms(options.streams() * kHeld * channels_, low, high);
    disturb(u_, channels_);
  }

  std::vector<OutputSpec> outputs() const override {
    return {{"out", channels_}, {"state", kHeld * channels_, true}};
  }

  std::span<const float> initial(size_t, int64_t stream) const override {
    const auto width = static_cast<size_t>(kHeld * channels_);
    return std::span(state_).subspan(static_cast<size_t>(stream) * width, width);
  }

  void call(const CpuContext& context, std::span<const Segment> segments, int,
            CallOutputs& out) override {
    const std::vector<float> u = gather(u_, channels_, segments);
    std::vector<ConvSequence> sequences;
    int64_t row = 0;
    for (size_t i = 0; i < segments.size(); ++i) {
      sequences.push_back({.first_row = row,
                           .rows = segments[i].rows(),
                           .state_in = out.before(1, i),
                           .state_out = out.data(1) + static_cast<int64_t>(i) * kHeld * channels_});
      row += segments[i].rows();
    }
    run_conv1d_causal(context, arguments(u, sequences, out.data(0)));
  }

  Expected reference(int64_t) const override {
    std::vector<ConvSequence> sequences;
    std::vector<double> last;
    for (int64_t s = 0; s < options().streams(); ++s) {
      const int64_t first = options().first(s), rows = options().rows[static_cast<size_t>(s)];
      sequences.push_back({.first_row = first, .rows = rows, .state_in = initial(1, s).data()});
      std::vector<float> all(initial(1, s).begin(), initial(1, s).end());
      all.insert(all.end(), u_.begin() + first * channels_,
                 u_.begin() + (first + rows) * channels_);
      last.insert(last.end(), all.end() - kHeld * channels_, all.end());
    }
    std::vector<double> out(u_.size()), bound(u_.size());
    reference_conv1d_causal(arguments(u_, sequences, nullptr), out.data(), bound.data());
    Expected expected;
    expected.add(0, out, bound);
    expected.add_exact(1, last);
    return expected;
  }

  std::vector<double> twin(Narrow type, const Expected& expected) const override {
    std::vector<double> values;
    for (const Expected::Value& value : expected.values) {
      const int64_t channel = value.index % channels_, row = value.index / channels_;
      // Rows that reach into the state, and the state itself, are left as they are.
      if (value.output == 1 || row < kHeld || started_within(row)) {
        values.push_back(value.want);
        continue;
      }
      const double sum = narrow_chain(type, kConvTaps, [&](int64_t tap) {
        const int64_t from = row + tap - kHeld;
        return static_cast<double>(weight_[static_cast<size_t>(tap * channels_ + channel)]) *
               u_[static_cast<size_t>(from * channels_ + channel)];
      });
      values.push_back(sum / (1.0 + real_math::exp(-sum)));
    }
    return values;
  }

 private:
  // True if a stream begins at one of the rows that a tap of `row` meets.
  bool started_within(int64_t row) const {
    for (int64_t s = 0; s < options().streams(); ++s) {
      const int64_t first = options().first(s);
      if (first <= row && row < first + kHeld) return true;
    }
    return false;
  }

  Conv1dCausalArgs arguments(const std::vector<float>& u,
                             const std::vector<ConvSequence>& sequences, float* out) const {
    return {.u = u.data(),
            .weight = weight_.data(),
            .channels = channels_,
            .sequences = sequences.data(),
            .sequence_count = static_cast<int64_t>(sequences.size()),
            .out = out};
  }

  int64_t channels_;
  std::vector<float> u_, weight_, state_;
};

}  // namespace

OpContract conv1d_causal_contract() {
  return {.op = "conv1d_causal",
          .make = make_problem<Conv1dCausalProblem>,
          .kernels = conv1d_causal_kernels,
          .limits = no_limits,
          .work = [](const ShapeClass& shape) { return shape.at("channels"); },
          .test_shapes =
              [] {
                return shapes("conv1d_causal", {"channels"}, {{1}, {15}, {16}, {17}, {33}, {2500}});
              },
          .twin = "sums the taps in the type"};
}

}  // namespace lockstep::contract
