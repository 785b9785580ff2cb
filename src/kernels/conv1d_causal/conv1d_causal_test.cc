#include "kernels/conv1d_causal/conv1d_causal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/guarded.h"
#include "kernels/contract/random.h"
#include "kernels/conv1d_causal/reference.h"

namespace lockstep::contract {
namespace {

struct Inputs {
  std::vector<float> u, weight, state;
  int64_t channels;

  Inputs(int64_t rows, int64_t count) : channels(count) {
    Random random(1);
    u = random.normals(rows * channels, 2.0);
    weight = random.normals(kConvTaps * channels);
    state = random.normals((kConvTaps - 1) * channels, 2.0);
  }
};

struct Result {
  std::vector<float> out, state;
};

Result run(const CpuContext& context, const Inputs& in, int64_t begin, int64_t end,
           const std::vector<float>& state) {
  Guarded out((end - begin) * in.channels), after((kConvTaps - 1) * in.channels);
  const ConvSequence sequence{
      .rows = end - begin, .state_in = state.data(), .state_out = after.data()};
  run_conv1d_causal(context, {.u = in.u.data() + begin * in.channels,
                              .weight = in.weight.data(),
                              .channels = in.channels,
                              .sequences = &sequence,
                              .sequence_count = 1,
                              .out = out.data()});
  EXPECT_EQ(out.check(), "");
  EXPECT_EQ(after.check(), "");
  return {out.copy(), after.copy()};
}

TEST(Conv1dCausal, IsWithinItsBoundAndKeepsTheLastThreeInputs) {
  for (int64_t channels : {0, 1, 15, 16, 17, 33, 2500}) {
    for (int64_t rows : {0, 1, 2, 3, 4, 9}) {
      const Inputs in(rows, channels);
      const Case test{"conv1d_causal", {rows, channels}, 1};
      EXPECT_EQ(compare_contexts(test,
                                 [&](const CpuContext& context) {
                                   return run(context, in, 0, rows, in.state).out;
                                 }),
                "");
      const Result got = run(default_context(), in, 0, rows, in.state);
      const ConvSequence sequence{.rows = rows, .state_in = in.state.data()};
      std::vector<double> want(got.out.size()), bound(got.out.size());
      reference_conv1d_causal({.u = in.u.data(),
                               .weight = in.weight.data(),
                               .channels = channels,
                               .sequences = &sequence,
                               .sequence_count = 1},
                              want.data(), bound.data());
      EXPECT_EQ(compare_within(test, got.out, want, bound), "");
      std::vector<float> all = in.state;
      all.insert(all.end(), in.u.begin(), in.u.end());
      const std::vector<float> last(all.end() - (kConvTaps - 1) * channels, all.end());
      EXPECT_EQ(got.state, last);
    }
  }
}

TEST(Conv1dCausal, SequencesInOneCallDoNotSeeEachOther) {
  Inputs in(12, 20);
  in.u[20 * 2 + 4] = std::numeric_limits<float>::quiet_NaN();  // in the second sequence
  const int64_t counts[] = {1, 6, 0, 5};
  std::vector<Guarded> after(4, Guarded(3 * 20));
  std::vector<ConvSequence> sequences;
  int64_t first = 0;
  for (size_t s = 0; s < 4; ++s) {
    sequences.push_back({first, counts[s], in.state.data(), after[s].data()});
    first += counts[s];
  }
  Guarded out(12 * 20);
  run_conv1d_causal(default_context(), {.u = in.u.data(),
                                        .weight = in.weight.data(),
                                        .channels = 20,
                                        .sequences = sequences.data(),
                                        .sequence_count = 4,
                                        .out = out.data()});
  for (size_t s = 0; s < 4; ++s) {
    const int64_t begin = sequences[s].first_row;
    const Result alone = run(default_context(), in, begin, begin + counts[s], in.state);
    EXPECT_EQ(compare_bits({"conv1d_causal", {counts[s], 20}, 1},
                           out.values().subspan(static_cast<size_t>(begin * 20),
                                                static_cast<size_t>(counts[s] * 20)),
                           alone.out),
              "");
    EXPECT_EQ(compare_bits({"conv1d_causal", {3, 20}, 1}, after[s].values(), alone.state), "");
  }
  // The NaN reaches the four rows whose taps meet it, in its own channel.
  EXPECT_EQ(std::count_if(out.values().begin(), out.values().end(),
                          [](float x) { return std::isnan(x); }),
            4);
}

}  // namespace
}  // namespace lockstep::contract
