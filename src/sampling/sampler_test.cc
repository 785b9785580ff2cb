#include "sampling/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <optional>

#include "sampling/noise.h"
#include "sampling/test_rows.h"

namespace lockstep {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Draws at the start of a reply without a prompt, from rows of any size.
class FreshSampler {
 public:
  explicit FreshSampler(const SamplingSettings& settings) : settings_(settings) {
    if (!settings_.seed) settings_.seed = 42;
  }

  Result<int32_t> sample(const std::vector<float>& row, int64_t position) {
    if (!sampler_ || size_ != row.size()) {
      size_ = row.size();
      sampler_ = Sampler::make(settings_, static_cast<int64_t>(size_), {}).value();
    }
    return sampler_->draw(row, position, scratch_);
  }

 private:
  SamplingSettings settings_;
  std::optional<Sampler> sampler_;
  size_t size_ = 0;
  SamplerScratch scratch_;
};

std::map<int32_t, int64_t> count_draws(FreshSampler sampler, const std::vector<float>& row,
                                       int64_t draws) {
  std::map<int32_t, int64_t> counts;
  for (int64_t position = 0; position < draws; ++position) {
    ++counts[sampler.sample(row, position).value()];
  }
  return counts;
}

// Chi-square of `draws` draws against the probabilities exp(score), of which only `allowed` are
// left; with `allowed.size() - 1` degrees of freedom.
double chi_square(const std::map<int32_t, int64_t>& counts, const std::vector<float>& row,
                  double temperature, const std::vector<int32_t>& allowed, int64_t draws) {
  double total = 0.0;
  const auto weight = [&](int32_t id) {
    return std::exp(static_cast<double>(row[static_cast<size_t>(id)]) / temperature);
  };
  for (const int32_t id : allowed) total += weight(id);
  double sum = 0.0;
  for (const int32_t id : allowed) {
    const double expected = static_cast<double>(draws) * weight(id) / total;
    const auto found = counts.find(id);
    const double seen = found == counts.end() ? 0.0 : static_cast<double>(found->second);
    sum += (seen - expected) * (seen - expected) / expected;
  }
  return sum;
}

int64_t draws_of(const std::map<int32_t, int64_t>& counts, const std::vector<int32_t>& ids) {
  int64_t sum = 0;
  for (const int32_t id : ids) sum += counts.contains(id) ? counts.at(id) : 0;
  return sum;
}

// Probabilities about 0.37, 0.22, 0.14, 0.08, 0.05 ... : every filter below cuts somewhere else.
const std::vector<float> kRow = {0.5f, 2.0f, -1.0f, 1.5f, 0.0f, 1.0f, -kInfinity, -0.5f};

TEST(Sampler, DrawsFollowTheDistributionUnderEveryFilter) {
  struct Case {
    SamplingSettings settings;
    std::vector<int32_t> allowed;
    double limit;  // chi-square that one run in about 10^5 exceeds
  };
  const std::vector<Case> cases = {
      {{}, {0, 1, 2, 3, 4, 5, 7}, 34.0},
      {{.temperature = 0.5}, {0, 1, 2, 3, 4, 5, 7}, 34.0},
      {{.temperature = 3.0}, {0, 1, 2, 3, 4, 5, 7}, 34.0},
      {{.top_k = 3}, {1, 3, 5}, 23.5},
      {{.top_k = 7}, {0, 1, 2, 3, 4, 5, 7}, 34.0},
      {{.top_p = 0.7}, {1, 3, 5}, 23.5},
      {{.top_k = 4, .top_p = 0.95}, {0, 1, 3, 5}, 26.0},
      {{.top_k = 4, .top_p = 0.7}, {1, 3}, 20.0},  // of the four, 0.46 and 0.28 make 0.73
      {{.min_p = 0.3}, {1, 3, 5}, 23.5},
      {{.temperature = 2.0, .min_p = 0.3}, {0, 1, 3, 4, 5}, 28.5},
  };
  const int64_t draws = 40000;
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const auto counts = count_draws(FreshSampler(c.settings), kRow, draws);
    EXPECT_EQ(draws_of(counts, c.allowed), draws)
        << "a token outside the set was drawn, case " << i;
    EXPECT_LT(chi_square(counts, kRow, c.settings.temperature, c.allowed, draws), c.limit)
        << "case " << i;
  }
}

TEST(Sampler, GreedyTakesTheFirstInOrder) {
  FreshSampler greedy({.temperature = 0.0});
  EXPECT_EQ(greedy.sample(kRow, 0).value(), 1);
  EXPECT_EQ(greedy.sample(tied_row(1000, 1), 7).value(), find_first(tied_row(1000, 1)).value().id);
}

TEST(Sampler, ExtremeTemperaturesStayInTheirLimits) {
  FreshSampler cold({.temperature = 5e-324});
  FreshSampler hot({.temperature = 100.0});
  std::vector<float> row = {-3e38f, 3e38f, -kInfinity, 3e38f};
  for (int64_t position = 0; position < 200; ++position) {
    EXPECT_EQ(cold.sample(kRow, position).value(), 1);
    const int32_t id = hot.sample(row, position).value();
    EXPECT_TRUE(id == 1 || id == 3) << id;
  }
  const auto counts = count_draws(hot, kRow, 14000);
  for (const int32_t id : {0, 1, 2, 3, 4, 5, 7}) EXPECT_NEAR(counts.at(id), 2000, 250) << id;
}

TEST(Sampler, TheTokenDependsOnSeedReplyAndPositionAlone) {
  const std::vector<float> row = normal_row(1000, 1.0, 3);
  FreshSampler a({.seed = 5});
  FreshSampler b({.seed = 5});
  std::vector<int32_t> forward, backward;
  for (int64_t p = 0; p < 100; ++p) forward.push_back(a.sample(row, p).value());
  for (int64_t p = 99; p >= 0; --p) backward.insert(backward.begin(), b.sample(row, p).value());
  EXPECT_EQ(forward, backward);
  const auto differing = [&](SamplingSettings settings) {
    FreshSampler other(settings);
    int different = 0;
    for (int64_t p = 0; p < 100; ++p) {
      different += other.sample(row, p).value() != forward[static_cast<size_t>(p)];
    }
    return different;
  };
  EXPECT_GT(differing({.seed = 6}), 80);
  EXPECT_GT(differing({.seed = 5, .reply_index = 1}), 80);
}

// Finds a temperature at which token `behind`, one below the highest logit, comes out exactly equal
// to the first with the noise of this seed and position; 0 where there is none.
double tying_temperature(uint64_t seed, int64_t position, int32_t first, int32_t behind) {
  const NoiseKey key{seed, 0, static_cast<uint32_t>(position), 0};
  const double noise_first = gumbel(uniform_odd53(key, static_cast<uint32_t>(first)));
  const double noise_behind = gumbel(uniform_odd53(key, static_cast<uint32_t>(behind)));
  if (noise_behind - noise_first < 0.1) return 0.0;
  double temperature = 1.0 / (noise_behind - noise_first);
  for (int step = 0; step < 8; ++step) temperature = std::nextafter(temperature, 0.0);
  for (int step = 0; step < 16; ++step) {
    if (-1.0 / temperature + noise_behind == noise_first) return temperature;
    temperature = std::nextafter(temperature, 100.0);
  }
  return 0.0;
}

// The noise of real rows never ties; here it is made to. The token with the higher logit is met
// first where top_k sorts them, the lower id where nothing does: the lower id wins both ways.
TEST(Sampler, EqualScoresGoToTheLowerId) {
  int ties = 0;
  for (int64_t position = 0; position < 200; ++position) {
    for (const bool lower_is_behind : {false, true}) {
      const int32_t first = lower_is_behind ? 1 : 0;
      const double temperature = tying_temperature(42, position, first, 1 - first);
      if (temperature == 0.0) continue;
      ++ties;
      const std::vector<float> row = lower_is_behind ? std::vector<float>{1.0f, 2.0f, -kInfinity}
                                                     : std::vector<float>{2.0f, 1.0f, -kInfinity};
      for (const int64_t top_k : {0, 2}) {
        FreshSampler sampler({.temperature = temperature, .top_k = top_k});
        EXPECT_EQ(sampler.sample(row, position).value(), 0)
            << "position " << position << ", temperature " << temperature << ", top_k " << top_k;
      }
    }
  }
  EXPECT_GT(ties, 50);
}

TEST(Sampler, RemovingTokensThatDidNotWinChangesNothing) {
  const std::vector<float> row = normal_row(300, 1.0, 4);
  FreshSampler sampler({});
  for (int64_t position = 0; position < 50; ++position) {
    const int32_t winner = sampler.sample(row, position).value();
    std::vector<float> fewer(row.size(), -kInfinity);
    for (size_t id = 0; id < row.size(); id += 2) fewer[id] = row[id];
    fewer[static_cast<size_t>(winner)] = row[static_cast<size_t>(winner)];
    EXPECT_EQ(sampler.sample(fewer, position).value(), winner);
    const auto highest = find_first(row).value().logit;
    SamplingSettings loose{.top_k = 299, .top_p = 0.9999999, .min_p = 1e-9};
    if (highest - row[static_cast<size_t>(winner)] < 4.0f) {
      EXPECT_EQ(FreshSampler(loose).sample(row, position).value(), winner);
    }
  }
}

TEST(Sampler, PaddingTheVocabularyWithMaskedIdsChangesNothing) {
  for (const SamplingSettings& settings :
       {SamplingSettings{}, SamplingSettings{.top_k = 20, .top_p = 0.9},
        SamplingSettings{.min_p = 0.05}}) {
    FreshSampler sampler(settings);
    std::vector<float> row = normal_row(1000, 2.0, 9);
    std::vector<float> padded = row;
    padded.resize(1013, -kInfinity);
    for (int64_t position = 0; position < 100; ++position) {
      EXPECT_EQ(sampler.sample(row, position).value(), sampler.sample(padded, position).value());
    }
  }
}

TEST(Sampler, NonFiniteLogitsAreAnErrorAtEveryTemperature) {
  std::vector<float> row(100, 0.0f);
  row[99] = std::numeric_limits<float>::quiet_NaN();
  for (const double temperature : {0.0, 1.0}) {
    const auto result = FreshSampler({.temperature = temperature}).sample(row, 0);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kNumeric);
  }
}

TEST(Sampler, AnAbsentSeedIsDrawnAndTold) {
  const Sampler a = Sampler::make({}, 10, {}).value();
  const Sampler b = Sampler::make({}, 10, {}).value();
  ASSERT_TRUE(a.settings().seed.has_value());
  EXPECT_NE(*a.settings().seed, *b.settings().seed);
  EXPECT_EQ(*Sampler::make({.seed = 0}, 10, {}).value().settings().seed, 0u);
  EXPECT_FALSE(Sampler::make({.top_p = 2.0}, 10, {}).ok());
}

// CPU time of this thread: other load on the machine does not count.
double cpu_milliseconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// Not a benchmark: a guard against a draw that takes several times what it should.
TEST(Sampler, AFullVocabularyIsQuick) {
  const std::vector<float> row = normal_row(248320, 2.0, 1);
  const auto milliseconds = [&](const SamplingSettings& settings) {
    FreshSampler sampler(settings);
    double best = 1e9;
    for (int64_t position = 0; position < 5; ++position) {
      const double start = cpu_milliseconds();
      EXPECT_TRUE(sampler.sample(row, position).ok());
      best = std::min(best, cpu_milliseconds() - start);
    }
    return best;
  };
  const double greedy = milliseconds({.temperature = 0.0});
  const double plain = milliseconds({});
  const double usual = milliseconds({.top_k = 20, .top_p = 0.95});
  const double nucleus = milliseconds({.top_p = 0.95});
  std::printf("ms per draw: greedy %.2f, plain %.2f, top_k 20 + top_p %.2f, top_p %.2f\n", greedy,
              plain, usual, nucleus);
  EXPECT_LT(greedy, 10.0);
  EXPECT_LT(usual, 10.0);
  EXPECT_LT(std::max(plain, nucleus), 100.0);  // unoptimised and sanitized builds included
}

}  // namespace
}  // namespace lockstep
