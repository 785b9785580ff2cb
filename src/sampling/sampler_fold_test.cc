// A sampler is a fold: what a draft window, a batch or a resumed reply draws is what one token
// after another draws.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "sampling/sampler.h"
#include "sampling/test_rows.h"

namespace lockstep {
namespace {

constexpr int64_t kVocab = 97;

// After id, only ids of another remainder by 3 may follow.
class NoSameRemainder : public TokenConstraint {
 public:
  explicit NoSameRemainder(int32_t last) : mask_(mask_words(kVocab)) {
    for (int32_t id = 0; id < kVocab; ++id) {
      if (id % 3 != last % 3) mask_[static_cast<size_t>(id) / 64] |= uint64_t{1} << id % 64;
    }
  }
  TokenMask mask() const override { return mask_; }
  std::shared_ptr<const TokenConstraint> after(int32_t id) const override {
    return std::make_shared<NoSameRemainder>(id);
  }

 private:
  std::vector<uint64_t> mask_;
};

struct Request {
  SamplingSettings settings;
  bool constrained = false;

  Sampler sampler() const {
    const std::vector<int32_t> prompt = {1, 2, 3, 4, 5, 5, 5};
    return Sampler::make(settings, kVocab, prompt,
                         constrained ? std::make_shared<NoSameRemainder>(0) : nullptr)
        .value();
  }
};

// Every sampler by itself, and all of them.
std::vector<Request> requests() {
  const SamplingSettings all{.temperature = 0.8,
                             .top_k = 40,
                             .top_p = 0.95,
                             .min_p = 0.01,
                             .seed = 5,
                             .repetition_penalty = 1.3,
                             .presence_penalty = 0.5,
                             .frequency_penalty = 0.2,
                             .penalty_window = 20,
                             .logit_bias = {{7, 1.5}, {8, -2.0}},
                             .banned_tokens = {11, 12}};
  SamplingSettings greedy = all;
  greedy.temperature = 0.0;
  return {{{.seed = 1}},
          {{.seed = 2, .repetition_penalty = 1.5}},
          {{.seed = 3, .presence_penalty = 2.0}},
          {{.seed = 4, .frequency_penalty = 0.7, .penalty_window = 9}},
          {{.seed = 5}, true},
          {{.temperature = 0.0, .seed = 6, .frequency_penalty = 1.0}},
          {all, true},
          {greedy, true}};
}

// The model: the row after a sequence of tokens.
std::vector<float> row_after(const std::vector<int32_t>& ids) {
  uint64_t hash = 17;
  for (const int32_t id : ids) hash = hash * 1000003 + static_cast<uint64_t>(id);
  return normal_row(kVocab, 1.5, hash);
}

std::vector<int32_t> serial_reply(const Request& request, size_t length) {
  Sampler sampler = request.sampler();
  SamplerScratch scratch;
  std::vector<int32_t> ids;
  while (ids.size() < length) {
    const std::vector<float> row = row_after(ids);
    const int32_t id = sampler.draw(row, static_cast<int64_t>(ids.size()), scratch).value();
    sampler.accept(id, row);
    ids.push_back(id);
  }
  return ids;
}

// One window: drafts follow `ids`; the samplers after each row, those of wrong drafts included.
// Returns how many tokens are right, the last drawn one among them, and leaves the sampler there.
size_t run_window(Sampler& committed, std::vector<int32_t>& ids, const std::vector<int32_t>& drafts,
                  SamplerScratch& scratch) {
  std::vector<Sampler> rows;
  std::vector<int32_t> drawn, path = ids;
  Sampler row = committed;
  for (size_t r = 0; r <= drafts.size(); ++r) {
    const std::vector<float> logits = row_after(path);
    drawn.push_back(row.draw(logits, static_cast<int64_t>(path.size()), scratch).value());
    // A wrong draft is followed all the same: whatever its rows do must not reach the others.
    const int32_t next = r < drafts.size() ? drafts[r] : drawn.back();
    row.accept(next, logits);
    rows.push_back(row);
    path.push_back(next);
  }
  size_t right = 0;
  while (right < drafts.size() && drafts[right] == drawn[right]) ++right;
  const std::vector<float> last_row = row_after(
      std::vector<int32_t>(path.begin(), path.begin() + static_cast<int64_t>(ids.size() + right)));
  if (right > 0) committed = rows[right - 1];
  committed.accept(drawn[right], last_row);
  ids.insert(ids.end(), drawn.begin(), drawn.begin() + static_cast<int64_t>(right) + 1);
  return right;
}

TEST(SamplerFold, DraftWindowsGiveTheSerialReply) {
  std::mt19937_64 engine(11);
  for (const Request& request : requests()) {
    const std::vector<int32_t> expected = serial_reply(request, 400);
    Sampler sampler = request.sampler();
    SamplerScratch scratch;
    std::vector<int32_t> ids;
    size_t right = 0, wrong = 0;
    while (ids.size() + 8 < expected.size()) {
      std::vector<int32_t> drafts;
      for (size_t i = 0; i < engine() % 6; ++i) {
        const bool good = engine() % 4 != 0;
        // Wrong drafts obey the constraint too: a grammar's mask is computed before drafting.
        drafts.push_back(expected[ids.size() + i]);
        if (!good) drafts.back() = (drafts.back() + 3) % 96;
      }
      const size_t accepted = run_window(sampler, ids, drafts, scratch);
      right += accepted;
      wrong += drafts.size() - accepted;
    }
    EXPECT_EQ(ids, std::vector<int32_t>(expected.begin(),
                                        expected.begin() + static_cast<int64_t>(ids.size())));
    EXPECT_GT(right, 50u);
    EXPECT_GT(wrong, 50u);
  }
}

TEST(SamplerFold, StreamsInAnyOrderDrawWhatTheyDrawAlone) {
  std::mt19937_64 engine(12);
  const std::vector<Request> all = requests();
  std::vector<Sampler> samplers;
  for (const Request& request : all) samplers.push_back(request.sampler());
  std::vector<std::vector<int32_t>> replies(all.size());
  SamplerScratch scratch;  // one for all of them
  for (int step = 0; step < 1500; ++step) {
    const size_t stream = engine() % all.size();
    std::vector<int32_t>& ids = replies[stream];
    const std::vector<float> row = row_after(ids);
    ids.push_back(samplers[stream].draw(row, static_cast<int64_t>(ids.size()), scratch).value());
    samplers[stream].accept(ids.back(), row);
  }
  for (size_t stream = 0; stream < all.size(); ++stream) {
    EXPECT_EQ(replies[stream], serial_reply(all[stream], replies[stream].size())) << stream;
  }
}

TEST(SamplerFold, DrawingAgainChangesNothing) {
  for (const Request& request : requests()) {
    Sampler sampler = request.sampler();
    SamplerScratch scratch;
    const std::vector<float> row = row_after({});
    const int32_t id = sampler.draw(row, 0, scratch).value();
    for (int again = 0; again < 3; ++again) EXPECT_EQ(sampler.draw(row, 0, scratch).value(), id);
    EXPECT_EQ(row, row_after({})) << "the row was changed";
  }
}

// Each setting changes some token of a reply: none is accepted and ignored.
TEST(SamplerFold, EverySettingShowsInTheReply) {
  const std::vector<int32_t> plain = serial_reply({{.seed = 1}}, 200);
  const std::vector<Request> others = {{{.seed = 1, .repetition_penalty = 1.5}},
                                       {{.seed = 1, .presence_penalty = 1.0}},
                                       {{.seed = 1, .frequency_penalty = 1.0}},
                                       {{.seed = 1, .logit_bias = {{5, 3.0}}}},
                                       {{.seed = 1, .banned_tokens = {plain[0]}}},
                                       {{.seed = 1, .allowed_tokens = {1, 2, 3}}},
                                       {{.seed = 1, .reply_index = 1}},
                                       {{.seed = 1}, true}};
  for (size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(serial_reply(others[i], 200), plain) << i;
  }
  const Request windowed{{.seed = 1, .frequency_penalty = 1.0, .penalty_window = 5}};
  EXPECT_NE(serial_reply(windowed, 200), serial_reply(others[2], 200));
}

TEST(SamplerFold, WhatIsBannedOrMaskedIsNeverDrawn) {
  const Request request{{.seed = 9, .logit_bias = {{4, 100.0}}, .banned_tokens = {4, 5, 6}}, true};
  int32_t last = 0;
  for (const int32_t id : serial_reply(request, 300)) {
    EXPECT_TRUE(id < 4 || id > 6) << id;
    EXPECT_NE(id % 3, last % 3);
    last = id;
  }
  for (const int32_t id : serial_reply({{.seed = 9, .allowed_tokens = {10, 90}}}, 50)) {
    EXPECT_TRUE(id == 10 || id == 90) << id;
  }
}

TEST(SamplerFold, NothingLeftToDrawIsAnErrorNotAToken) {
  SamplerScratch scratch;
  const std::vector<float> row = row_after({});
  for (const double temperature : {0.0, 1.0}) {
    const Sampler sampler =
        Sampler::make({.temperature = temperature, .banned_tokens = {3}, .allowed_tokens = {3}},
                      kVocab, {})
            .value();
    const auto drawn = sampler.draw(row, 0, scratch);
    ASSERT_FALSE(drawn.ok());
    EXPECT_EQ(drawn.error().code, ErrorCode::kInvalidArgument);
  }
}

// A broken row stays an error where a mask would hide it.
TEST(SamplerFold, ANaNUnderABanIsStillAnError) {
  SamplerScratch scratch;
  std::vector<float> row = row_after({});
  row[3] = std::numeric_limits<float>::quiet_NaN();
  const Sampler sampler = Sampler::make({.banned_tokens = {3}}, kVocab, {}).value();
  const auto drawn = sampler.draw(row, 0, scratch);
  ASSERT_FALSE(drawn.ok());
  EXPECT_EQ(drawn.error().code, ErrorCode::kNumeric);
}

}  // namespace
}  // namespace lockstep
