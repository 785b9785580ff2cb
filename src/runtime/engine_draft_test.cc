// Drafted replies are what they are alone, bit by bit, whatever the drafts were.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>

#include "model/testing/runner.h"
#include "runtime/stream_engine.h"
#include "runtime/testing/solo_run.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

using testing::first_difference;
using testing::solo_run;
using testing::SoloRun;

constexpr int64_t kContext = 300;
constexpr int64_t kVocab = 512;
constexpr int64_t kStreams = 4;

enum class Truth { kRight, kWrong, kMixed, kAdversarial };

class EngineDraft : public ::testing::Test {
 protected:
  EngineDraft()
      : model_(open_micro_model(kVocab)),
        pool_(2),
        pass_(model_, {.pool = pool_, .isa = best_isa()}, {.rows = 64, .logit_rows = 40}) {}

  static Request request_of(size_t length, int64_t tokens, uint64_t seed = 3) {
    Request request = {.max_tokens = tokens, .sampling = {.seed = seed}};
    for (size_t i = 0; i < length; ++i) {
      request.prompt.push_back(static_cast<int32_t>((i * 7 + seed) % kVocab));
    }
    return request;
  }

  SoloRun alone(const Request& request, int64_t reply = 0) {
    TestPass pass(model_, 64);
    return solo_run(pass.get(), request, reply, kContext, 64);
  }

  void start(EngineOptions options = {}) {
    engine_.reset();
    options.context = kContext;
    options.streams = kStreams;
    if (options.pages == 0) options.pages = kStreams * EngineOptions::least_pages(kContext);
    options.rules.rows = 64;
    options.leave = [this](uint64_t request, int64_t reply, const SequenceState& state) {
      left_[{request, reply}] = testing::fingerprint(state);
    };
    engine_ = StreamEngine::make(pass_, pool_, options).value();
    submitted_ = 0;
  }

  // An engine whose drafts for request i of `requests`, reply 0, are what `truth` says.
  void start_forced(const std::vector<SoloRun>& wants, const std::vector<Request>& requests,
                    int64_t depth, Truth truth) {
    start({.forced_drafts = [=](uint64_t number, int64_t, std::span<const int32_t> ids,
                                int64_t most) {
      const size_t index = number - 1;
      const size_t drawn = ids.size() - requests[index].prompt.size();
      std::vector<int32_t> drafts(static_cast<size_t>(std::min(depth, most)));
      for (size_t i = 0; i < drafts.size(); ++i) {
        const auto& tokens = wants[index].tokens;
        const int32_t right = drawn + i < tokens.size() ? tokens[drawn + i].id : 0;
        const int32_t wrong = (right + 1) % static_cast<int32_t>(kVocab);
        const bool is_right = truth == Truth::kRight || (truth == Truth::kMixed && i < drawn % 4) ||
                              (truth == Truth::kAdversarial && i + 1 < drafts.size());
        drafts[i] = is_right ? right : wrong;
      }
      return drafts;
    }});
  }

  // All at once, each held to itself alone.
  std::vector<Reply> run(const std::vector<Request>& requests) {
    std::vector<ReplyStream> streams;
    for (const Request& request : requests) {
      streams.push_back(engine_->submit(request).value());
    }
    std::vector<Reply> first;
    for (size_t i = 0; i < requests.size(); ++i) {
      const std::vector<Reply> replies = collect_replies(streams[i]);
      for (size_t r = 0; r < replies.size(); ++r) {
        const auto reply = static_cast<int64_t>(r);
        const SoloRun want = alone(requests[i], reply);
        EXPECT_EQ(first_difference(want, replies[r]), "") << "request " << i << ", reply " << r;
        EXPECT_EQ(left_.at({streams[i].request(), reply}), want.fingerprint)
            << "the state of request " << i << ", reply " << r;
      }
      first.push_back(replies[0]);
    }
    return first;
  }

  // Every sampler, penalties and a mask of tokens, log-probabilities, several replies.
  static std::vector<Request> many_kinds() {
    std::vector<Request> requests = {request_of(20, 30, 1), request_of(33, 25, 2),
                                     request_of(7, 40, 3), request_of(64, 30, 4)};
    requests[0].sampling.temperature = 0.0;
    requests[0].top_logprobs = 3;
    requests[1].sampling = {.temperature = 1.4,
                            .top_k = 40,
                            .top_p = 0.95,
                            .min_p = 0.001,
                            .seed = 9,
                            .repetition_penalty = 1.3,
                            .presence_penalty = 0.4,
                            .frequency_penalty = 0.3,
                            .penalty_window = 12};
    requests[2].sampling.logit_bias = {{5, 9.0}, {6, 8.0}};
    requests[2].sampling.banned_tokens = {7, 8};
    requests[2].top_logprobs = 0;
    requests[3].sampling.allowed_tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    return requests;
  }

  Model model_;
  ThreadPool pool_;
  ForwardPass pass_;
  std::map<std::pair<uint64_t, int64_t>, std::vector<std::byte>> left_;
  std::unique_ptr<StreamEngine> engine_;
  uint64_t submitted_ = 0;
};

TEST_F(EngineDraft, ForcedDraftsOfEveryDepthNeverShow) {
  const std::vector<Request> requests = many_kinds();
  std::vector<SoloRun> wants;
  for (const Request& request : requests) wants.push_back(alone(request));
  for (const int64_t depth : {1, 2, 3, 5, 8}) {
    for (const Truth truth : {Truth::kRight, Truth::kWrong, Truth::kMixed, Truth::kAdversarial}) {
      SCOPED_TRACE(::testing::Message() << "depth " << depth << ", truth " << int(truth));
      start_forced(wants, requests, depth, truth);
      const std::vector<Reply> replies = run(requests);
      const DraftCounts& counts = replies[0].end.timings.drafts;
      EXPECT_GT(counts.offered(), 0);
      if (truth == Truth::kRight) {
        EXPECT_EQ(counts.accepted(), counts.offered());
      }
      if (truth == Truth::kWrong) {
        EXPECT_EQ(counts.accepted(), 0);
      }
      if (truth == Truth::kRight) {
        EXPECT_LE(replies[0].end.timings.decode_rounds, 29 / (depth + 1) + 1);
      }
    }
  }
  EXPECT_EQ(engine_->figures().pages_taken, 0);
}

// Each way to end, at each place of a window.
TEST_F(EngineDraft, StopsInsideAWindowLeaveWhatSerialRepliesLeave) {
  const Request base = request_of(30, 24);
  const SoloRun all = alone(base);
  for (size_t at = 1; at < 12; ++at) {
    std::vector<Request> requests = {base, base, base, base};
    requests[0].stop_ids = {all.tokens[at].id};
    requests[1].max_tokens = static_cast<int64_t>(at);
    for (const bool keep : {false, true}) {
      // The check counts tokens of its own reply: alone and in the engine it starts anew.
      requests[keep ? 3 : 2].check = [&all, at, keep](int64_t, int32_t id) -> TokenVerdict {
        return id == all.tokens[at].id ? TokenVerdict{.keep = keep, .stop = true} : TokenVerdict{};
      };
    }
    std::vector<SoloRun> wants;
    for (size_t i = 0; i < requests.size(); ++i) wants.push_back(all);
    start_forced(wants, requests, 8, Truth::kRight);
    run(requests);
  }
}

TEST_F(EngineDraft, TheContextEndsADraftedReplyAtTheExactCount) {
  const Request request = request_of(280, 1000);
  start_forced({alone(request)}, {request}, 8, Truth::kRight);
  const std::vector<Reply> replies = run({request});
  EXPECT_EQ(replies[0].tokens.size(), 20u);
  EXPECT_EQ(replies[0].end.finish, FinishReason::kLength);
}

TEST_F(EngineDraft, ACheckThatThrowsInsideAWindowEndsTheReplyAfterTheTokensBeforeIt) {
  Request request = request_of(30, 24);
  const SoloRun all = alone(request);
  int seen = 0;
  request.check = [&](int64_t, int32_t) -> TokenVerdict {
    if (++seen == 7) throw std::runtime_error("no more");
    return {};
  };
  start_forced({all}, {request}, 8, Truth::kRight);
  ReplyStream stream = engine_->submit(request).value();
  const Reply reply = collect_replies(stream).front();
  ASSERT_FALSE(reply.end.status.ok());
  EXPECT_EQ(reply.end.status.error().message, "the check of a token failed: no more");
  EXPECT_EQ(reply.tokens.size(), 6u);
  // The state stands where the draw of the seventh would have begun.
  Request six = request_of(30, 6);
  EXPECT_EQ(left_.at({1, 0}), alone(six).fingerprint);
}

// A wrong draft whose row is not finite must harm nobody; one that is drawn must.
TEST_F(EngineDraft, ARowThatIsNotFiniteMattersOnlyIfItsDraftIsRight) {
  const Request request = request_of(30, 12);
  const SoloRun all = alone(request);
  for (const bool right : {false, true}) {
    start_forced({all}, {request}, 3, right ? Truth::kRight : Truth::kWrong);
    // The last row of every window of four.
    const auto width = static_cast<size_t>(model_.config().hidden_size);
    pass_.set_residual_edit([width](int64_t, std::span<float> residual) {
      if (residual.size() != 4 * width) return;
      residual[3 * width] = std::numeric_limits<float>::quiet_NaN();
    });
    ReplyStream stream = engine_->submit(request).value();
    const Reply reply = collect_replies(stream).front();
    engine_.reset();
    pass_.set_residual_edit(nullptr);
    if (right) {
      ASSERT_FALSE(reply.end.status.ok());
      EXPECT_EQ(reply.end.status.error().code, ErrorCode::kNumeric);
      EXPECT_EQ(reply.tokens.size(), 4u) << "the first, and those of the three rows before it";
    } else {
      EXPECT_EQ(first_difference(all, reply), "");
    }
  }
}

// What rows cost decides whether there are drafts, and a busy machine may say no.
TEST_F(EngineDraft, RepliesThatRepeatThemselvesAreCopied) {
  start();
  Request request = request_of(40, 120);
  request.sampling.temperature = 0.0;
  request.sampling.allowed_tokens = {5, 6};
  request.sampling.logit_bias = {{5, 100.0}};
  ReplyTimings timings;
  for (int i = 0; i < 20 && timings.drafts.accepted() == 0; ++i) {
    timings = run({request})[0].end.timings;
  }
  EXPECT_EQ(timings.decode_draws, 119);
  EXPECT_LT(timings.decode_rounds, 119) << "one id again and again";
  EXPECT_EQ(timings.decode_rounds, 119 - timings.drafts.accepted());
  EXPECT_GT(timings.drafts.verify_seconds, 0.0);
}

TEST_F(EngineDraft, APredictionIsTriedAndMayBeWrong) {
  Request request = request_of(40, 60);
  const SoloRun all = alone(request);
  for (size_t i = 0; i < all.tokens.size(); ++i) {
    request.prediction.push_back(i == 20 ? 3 : all.tokens[i].id);
  }
  start();
  int64_t right = 0;
  for (int i = 0; i < 20 && right == 0; ++i) {
    right = run({request})[0].end.timings.drafts.accepted();
  }
  EXPECT_GT(right, 0);
}

TEST_F(EngineDraft, OffMeansNoDrafts) {
  Request request = request_of(40, 60);
  request.sampling.temperature = 0.0;
  request.sampling.allowed_tokens = {5};
  for (const bool by_request : {true, false}) {
    start({.drafts = by_request ? kMostDrafts : 0});
    request.drafts = by_request ? 0 : kMostDrafts;
    const std::vector<Reply> replies = run({request});
    EXPECT_EQ(replies[0].end.timings.drafts.at(DrafterKind::kCopies).windows, 0);
    EXPECT_EQ(replies[0].end.timings.decode_rounds, 59);
  }
  request.drafts = 9;
  EXPECT_FALSE(engine_->submit(request).ok());
  request.drafts = 1;
  request.prediction = {static_cast<int32_t>(kVocab)};
  EXPECT_FALSE(engine_->submit(request).ok());
}

// Two replies fill all pages. The first one's windows reach the next page some rounds before it
// does, and by then the other one has ended.
TEST_F(EngineDraft, DraftsTakeNoPageThatAReplyHas) {
  Request request = request_of(40, 180);
  const SoloRun want = alone(request);
  request.replies = 2;
  request.check = [count = 0](int64_t reply, int32_t) mutable -> TokenVerdict {
    return {.keep = true, .stop = reply == 1 && ++count == 150};
  };
  start({.pages = EngineOptions::least_pages(kContext),
         .forced_drafts = [](uint64_t, int64_t, std::span<const int32_t>, int64_t most) {
           return std::vector<int32_t>(static_cast<size_t>(most), 1);
         }});
  ReplyStream stream = engine_->submit(request).value();
  const std::vector<Reply> replies = collect_replies(stream);
  EXPECT_EQ(first_difference(want, replies[0]), "");
  EXPECT_EQ(replies[1].tokens.size(), 150u);
  EXPECT_EQ(engine_->figures().preemptions, 0);
}

TEST_F(EngineDraft, TheTotalsAreThoseOfTheReplies) {
  std::vector<Request> requests = many_kinds();
  std::vector<SoloRun> wants;
  for (const Request& request : requests) wants.push_back(alone(request));
  start_forced(wants, requests, 4, Truth::kMixed);
  const std::vector<Reply> replies = run(requests);
  ReplyStream last = engine_->submit(request_of(3, 0)).value();
  collect_replies(last);  // by now the engine has told what the others had
  DraftCounts sum;
  for (const Reply& reply : replies) sum.add(reply.end.timings.drafts);
  const DraftCounts all = engine_->figures().drafts;
  EXPECT_EQ(all.at(DrafterKind::kCopies).offered, sum.at(DrafterKind::kCopies).offered);
  EXPECT_EQ(all.at(DrafterKind::kCopies).accepted, sum.at(DrafterKind::kCopies).accepted);
}

// The draft head of a trained model, at every depth, in all streams at once, greedy and sampled,
// with saved states in between.
TEST(EngineHead, DraftsAreRightOftenAndNeverShow) {
  const Model model = open_model(tiny_model_folder());
  ThreadPool pool(2);
  ForwardPass pass(model, {.pool = pool, .isa = best_isa()}, {.rows = 64, .logit_rows = 3 + 24});
  for (const int64_t depth : {1, 4, 8}) {
    const auto made = StreamEngine::make(pass, pool,
                                         {.context = 200,
                                          .streams = 3,
                                          .pages = 3 * EngineOptions::least_pages(200),
                                          .cache = PromptCacheOptions{.memory_bytes = 64 << 20},
                                          .rules = {.rows = 64},
                                          .forced_depth = depth});
    StreamEngine& engine = *made.value();
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<Request> requests;
      std::vector<ReplyStream> streams;
      for (int32_t i = 0; i < 3; ++i) {
        Request request = {.max_tokens = 20,
                           .sampling = {.temperature = i == 0 ? 0.0 : 0.7, .seed = 5}};
        for (int32_t k = 0; k < 70; ++k) request.prompt.push_back(400 + (k * k * (i + 3)) % 709);
        requests.push_back(request);
        streams.push_back(engine.submit(std::move(request)).value());
      }
      for (size_t i = 0; i < streams.size(); ++i) {
        const Reply reply = collect_replies(streams[i]).front();
        TestPass alone(model, 64);
        EXPECT_EQ(first_difference(solo_run(alone.get(), requests[i], 0, 200, 64), reply), "")
            << "depth " << depth << ", request " << i;
        EXPECT_EQ(reply.end.timings.cached_tokens, turn == 0 ? 0 : 69);
      }
    }
    const DrafterCounts head = engine.figures().drafts.at(DrafterKind::kHead);
    EXPECT_GT(head.offered[static_cast<size_t>(depth - 1)], 0);
    EXPECT_GT(head.accepted[0], 0);
  }
}

}  // namespace
}  // namespace lockstep
