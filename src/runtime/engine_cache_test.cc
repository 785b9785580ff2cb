// The engine and the prompt cache: what is read again, and that it does not show.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>

#include "model/testing/runner.h"
#include "runtime/stream_engine.h"
#include "runtime/testing/solo_run.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

using testing::first_difference;
using testing::solo_run;
using testing::SoloRun;

constexpr int64_t kContext = 400;

class EngineCache : public ::testing::Test {
 protected:
  EngineCache()
      : model_(open_micro_model(512)),
        pool_(2),
        pass_(model_, {.pool = pool_, .isa = best_isa()}, {.rows = 48, .logit_rows = 3}) {}

  void start(uint64_t cache_bytes, int64_t pages = 3 * EngineOptions::least_pages(kContext)) {
    engine_ = StreamEngine::make(
                  pass_, pool_,
                  {.context = kContext,
                   .streams = 3,
                   .pages = pages,
                   .cache = PromptCacheOptions{.memory_bytes = cache_bytes},
                   .rules = {.rows = 48},
                   .leave =
                       [this](uint64_t request, int64_t reply, const SequenceState& state) {
                         left_[{request, reply}] = testing::fingerprint(state);
                       }})
                  .value();
  }

  // Runs it and holds every reply to the same request alone.
  std::vector<Reply> run(const Request& request) {
    ReplyStream stream = engine_->submit(request).value();
    std::vector<Reply> replies = collect_replies(stream);
    TestPass alone(model_, 64);
    for (size_t i = 0; i < replies.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      const SoloRun want = solo_run(alone.get(), request, index, kContext, 64);
      EXPECT_EQ(first_difference(want, replies[i]), "") << "reply " << i;
      EXPECT_EQ(left_.at({stream.request(), index}), want.fingerprint) << "reply " << i;
    }
    return replies;
  }

  int64_t cached(const Request& request) { return run(request)[0].end.timings.cached_tokens; }

  static Request request_of(size_t length, int32_t first = 0) {
    Request request = {.max_tokens = 6, .sampling = {.seed = 3}};
    for (size_t i = 0; i < length; ++i) {
      request.prompt.push_back((first + static_cast<int32_t>(i) * 7) % 512);
    }
    return request;
  }

  Model model_;
  ThreadPool pool_;
  ForwardPass pass_;
  std::map<std::pair<uint64_t, int64_t>, std::vector<std::byte>> left_;
  std::unique_ptr<StreamEngine> engine_;
};

TEST_F(EngineCache, AnIdenticalPromptCostsOneRow) {
  start(64 << 20);
  const Request request = request_of(150);
  EXPECT_EQ(cached(request), 0);
  const int64_t rows = engine_->figures().rows;
  EXPECT_EQ(cached(request), 149);
  EXPECT_LE(engine_->figures().rows - rows, 6);
}

TEST_F(EngineCache, ATurnThatIsRewrittenResumesAtTheMarkBeforeIt) {
  start(64 << 20);
  Request first = request_of(200);
  first.marks = {{.length = 60, .kind = SaveKind::kSystem},
                 {.length = 190, .kind = SaveKind::kBeforeThinking}};
  run(first);
  Request second = first;
  second.prompt.resize(190);
  for (int32_t i = 0; i < 30; ++i) second.prompt.push_back(5 + i);
  EXPECT_EQ(cached(second), 190);
  Request third = first;
  third.prompt.resize(100);
  third.prompt.push_back(9);
  EXPECT_EQ(cached(third), 60) << "another conversation with the same system text";
  third.prompt.push_back(10);
  EXPECT_EQ(cached(third), 100) << "the point where the two parted, once it has shown";
}

TEST_F(EngineCache, AnAppendGoesOnFromTheReplysEnd) {
  start(64 << 20);
  Request request = request_of(100);
  const std::vector<Reply> first = run(request);
  for (const ReplyToken& token : first[0].tokens) request.prompt.push_back(token.id);
  request.prompt.push_back(42);
  EXPECT_EQ(cached(request), 105) << "the last token of the reply has not been run";
}

TEST_F(EngineCache, RepliesToOnePromptStartFromWhatIsSaved) {
  start(64 << 20);
  Request request = request_of(120);
  request.replies = 3;
  for (const int64_t first : {0, 119}) {
    const std::vector<Reply> replies = run(request);
    EXPECT_EQ(replies[0].end.timings.cached_tokens, first);
    EXPECT_EQ(replies[1].end.timings.cached_tokens, 119);
    EXPECT_EQ(replies[2].end.timings.cached_tokens, 119);
  }
}

TEST_F(EngineCache, SaltsShareNothingAndARequestCanGoWithout) {
  start(64 << 20);
  Request request = request_of(100);
  run(request);
  request.salt = "another";
  EXPECT_EQ(cached(request), 0);
  EXPECT_EQ(cached(request), 99);
  request.use_cache = false;
  EXPECT_EQ(cached(request), 0);
  request.salt = std::string(257, 'x');
  EXPECT_FALSE(engine_->submit(request).ok());
}

TEST_F(EngineCache, APromptThatIsScoredIsReadAgain) {
  start(64 << 20);
  Request request = request_of(100);
  run(request);
  request.prompt_logprobs = 0;
  EXPECT_EQ(cached(request), 0);
}

TEST_F(EngineCache, WhatWasReadOfACancelledPromptIsKept) {
  start(64 << 20);
  std::atomic<bool> cancel = false;
  int64_t rounds = 0;
  pass_.set_tap([&](std::string_view stage, int64_t, std::span<const float>, int64_t) {
    if (stage == "embed" && ++rounds == 2) cancel = true;
  });
  Request request = request_of(300);
  request.cancel = &cancel;
  ReplyStream stream = engine_->submit(request).value();
  EXPECT_EQ(collect_replies(stream)[0].end.finish, FinishReason::kCancelled);
  pass_.set_tap(nullptr);
  request.cancel = nullptr;
  EXPECT_GT(cached(request), 32);
}

// Pages that only the cache holds are given up before a stream loses its place.
TEST_F(EngineCache, TheCacheGivesWayToStreams) {
  start(256 << 20, EngineOptions::least_pages(kContext));
  for (int32_t i = 0; i < 8; ++i) {
    Request request = request_of(300, i);
    request.max_tokens = 40;
    run(request);
  }
  EXPECT_EQ(engine_->figures().preemptions, 0);
}

}  // namespace
}  // namespace lockstep
