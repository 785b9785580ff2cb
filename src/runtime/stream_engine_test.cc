#include "runtime/stream_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "model/testing/runner.h"
#include "runtime/testing/solo_run.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

using testing::first_difference;
using testing::solo_run;
using testing::SoloRun;

std::vector<int32_t> prompt(size_t length, int32_t first = 300) {
  std::vector<int32_t> ids(length);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

std::vector<int32_t> ids_of(const std::vector<ReplyToken>& tokens) {
  std::vector<int32_t> ids;
  for (const ReplyToken& token : tokens) ids.push_back(token.id);
  return ids;
}

Request request_of(std::vector<int32_t> ids, int64_t max_tokens, uint64_t seed = 7) {
  return {.prompt = std::move(ids), .max_tokens = max_tokens, .sampling = {.seed = seed}};
}

class StreamEngineTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = new Model(open_micro_model(4096)); }
  static void TearDownTestSuite() {
    delete model_;
    model_ = nullptr;
  }

  // An engine with what belongs to it; keeps the state that each stream left.
  struct Setup {
    explicit Setup(EngineOptions options, int64_t spare_logit_rows = 0)
        : pool(2),
          pass(*model_, {.pool = pool, .isa = best_isa()},
               {.rows = options.rules.rows, .logit_rows = options.streams + spare_logit_rows}),
          holder(StreamEngine::make(pass, pool, with_hook(std::move(options))).value()),
          engine(*holder) {}

    EngineOptions with_hook(EngineOptions options) {
      if (options.pages == 0) {
        options.pages = options.streams * EngineOptions::least_pages(options.context);
      }
      options.leave = [this](uint64_t request, int64_t reply, const SequenceState& state) {
        left[{request, reply}] = testing::fingerprint(state);
      };
      return options;
    }

    std::vector<Reply> run(Request request) {
      ReplyStream stream = engine.submit(std::move(request)).value();
      return collect_replies(stream);
    }

    std::map<std::pair<uint64_t, int64_t>, std::vector<std::byte>> left;
    ThreadPool pool;
    ForwardPass pass;
    std::unique_ptr<StreamEngine> holder;
    StreamEngine& engine;
  };

  static SoloRun alone(const Request& request, int64_t context, int64_t reply = 0) {
    TestPass pass(*model_, 64);
    return solo_run(pass.get(), request, reply, context, 64);
  }

  static Model* model_;
};
Model* StreamEngineTest::model_ = nullptr;

TEST_F(StreamEngineTest, AReplyIsWhatItIsAlone) {
  for (const int64_t rows : {1, 7, 64}) {
    Setup setup({.context = 1000, .streams = 1, .rules = {.rows = rows}});
    Request request = request_of(prompt(19), 6);
    request.top_logprobs = 3;
    const SoloRun want = alone(request, 1000);
    const std::vector<Reply> got = setup.run(request);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(first_difference(want, got[0]), "") << rows << " rows";
    EXPECT_EQ(setup.left.at({1, 0}), want.fingerprint);
    EXPECT_EQ(got[0].end.timings.prompt_tokens, 19);
    EXPECT_EQ(got[0].end.timings.reply_tokens, 6);
    EXPECT_EQ(got[0].end.timings.decode_rounds, 5);
  }
}

// Every row of the prompt is run, in rounds that have logits for it, beside another reply.
TEST_F(StreamEngineTest, ThePromptsLogProbabilitiesComeWithTheFirstReply) {
  for (const int64_t spare : {0, 5}) {
    Setup setup({.context = 400, .streams = 3, .rules = {.rows = 32}}, spare);
    ReplyStream beside = setup.engine.submit(request_of(prompt(40, 900), 60, 5)).value();
    for (const int64_t max_tokens : {0, 4}) {
      Request request = request_of(prompt(70), max_tokens);
      request.prompt_logprobs = 2;
      request.replies = 2;
      const std::vector<Reply> got = setup.run(request);
      ASSERT_EQ(got[0].prompt.size(), 69u);
      EXPECT_EQ(got[0].prompt.front().position, 1);
      EXPECT_EQ(got[0].prompt.front().logprobs.chosen.id, request.prompt[1]);
      EXPECT_TRUE(got[1].prompt.empty());
      for (int64_t i : {0, 1}) {
        EXPECT_EQ(first_difference(alone(request, 400, i), got[static_cast<size_t>(i)]), "");
      }
    }
    EXPECT_EQ(collect_replies(beside)[0].tokens.size(), 60u);
  }
}

TEST_F(StreamEngineTest, SixteenDistinctPromptsAtOnceNeverMix) {
  Setup setup({.context = 400, .streams = 16, .rules = {.rows = 48}});
  std::vector<Request> requests;
  std::vector<ReplyStream> streams;
  for (int32_t i = 0; i < 16; ++i) {
    const size_t length = i == 3 ? 300 : i == 4 ? 1 : static_cast<size_t>(7 + 3 * i);
    requests.push_back(request_of(prompt(length, 200 * i), 5 + i, static_cast<uint64_t>(i)));
    if (i % 4 == 0) requests.back().sampling.temperature = 0.0;
    streams.push_back(setup.engine.submit(requests.back()).value());
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    const std::vector<Reply> got = collect_replies(streams[i]);
    const SoloRun want = alone(requests[i], 400);
    EXPECT_EQ(first_difference(want, got[0]), "") << "stream " << i;
    EXPECT_EQ(setup.left.at({i + 1, 0}), want.fingerprint) << "stream " << i;
  }
  EXPECT_EQ(setup.engine.figures().pages_taken, 0);
}

TEST_F(StreamEngineTest, RepliesToOnePromptShareItsReading) {
  Setup setup({.context = 400, .streams = 4, .rules = {.rows = 32}});
  Request request = request_of(prompt(150), 8);
  request.replies = 4;
  const std::vector<Reply> got = setup.run(request);
  ASSERT_EQ(got.size(), 4u);
  for (int64_t i = 0; i < 4; ++i) {
    const SoloRun want = alone(request, 400, i);
    EXPECT_EQ(first_difference(want, got[static_cast<size_t>(i)]), "") << "reply " << i;
    EXPECT_EQ(setup.left.at({1, i}), want.fingerprint) << "reply " << i;
    EXPECT_EQ(got[static_cast<size_t>(i)].end.timings.cached_tokens, i == 0 ? 0 : 149);
  }
  EXPECT_NE(ids_of(got[0].tokens), ids_of(got[1].tokens)) << "each has noise of its own";
  EXPECT_EQ(setup.engine.figures().rows, 150 + 3 + 4 * 7);
  EXPECT_EQ(setup.engine.figures().pages_taken, 0);
}

TEST_F(StreamEngineTest, MoreRequestsThanPlacesWaitTheirTurn) {
  Setup setup({.context = 100, .streams = 2, .rules = {.rows = 16}});
  std::vector<ReplyStream> streams;
  Request request = request_of(prompt(9), 4);
  request.replies = 2;
  for (int i = 0; i < 5; ++i) streams.push_back(setup.engine.submit(request).value());
  const std::vector<Reply> first = collect_replies(streams[0]);
  for (size_t i = 1; i < 5; ++i) {
    const std::vector<Reply> got = collect_replies(streams[i]);
    ASSERT_EQ(got.size(), 2u);
    for (size_t r = 0; r < 2; ++r) EXPECT_EQ(ids_of(got[r].tokens), ids_of(first[r].tokens));
  }
}

// Two streams that together outgrow the pages: the younger starts again, and nobody can tell.
TEST_F(StreamEngineTest, AStreamThatLosesItsPlaceGivesTheSameReply) {
  Setup setup({.context = 256,
               .streams = 3,
               .pages = EngineOptions::least_pages(256),
               .rules = {.rows = 32}});
  std::vector<Request> requests;
  std::vector<ReplyStream> streams;
  for (int32_t i = 0; i < 3; ++i) {
    requests.push_back(request_of(prompt(20, 100 * i), 150, static_cast<uint64_t>(i)));
    streams.push_back(setup.engine.submit(requests.back()).value());
  }
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<Reply> got = collect_replies(streams[i]);
    const SoloRun want = alone(requests[i], 256);
    EXPECT_EQ(first_difference(want, got[0]), "") << "stream " << i;
    EXPECT_EQ(setup.left.at({i + 1, 0}), want.fingerprint) << "stream " << i;
  }
  EXPECT_GT(setup.engine.figures().preemptions, 0) << "the test has no point";
  EXPECT_EQ(setup.engine.figures().pages_taken, 0);
}

TEST_F(StreamEngineTest, AStopIdEndsTheReplyAndIsNoPartOfIt) {
  Setup setup({.context = 1000, .streams = 1, .rules = {.rows = 16}});
  Request request = request_of(prompt(10), 10);
  const std::vector<int32_t> all = ids_of(setup.run(request)[0].tokens);
  request.stop_ids = {all[6], 4095};
  const auto expected = std::find(all.begin(), all.end(), all[6]) - all.begin();
  const Reply reply = setup.run(request)[0];
  EXPECT_EQ(reply.end.finish, FinishReason::kStop);
  EXPECT_EQ(reply.end.stop_id, all[6]);
  EXPECT_EQ(ids_of(reply.tokens), std::vector<int32_t>(all.begin(), all.begin() + expected));
  EXPECT_EQ(setup.left.at({2, 0}), alone(request, 1000).fingerprint);
}

// The state stands at the last returned token, whatever the check does with the one it saw.
TEST_F(StreamEngineTest, ACheckStopsBeforeTheRoundIsKept) {
  Setup setup({.context = 1000, .streams = 1, .rules = {.rows = 16}});
  for (const bool keep : {true, false}) {
    Request request = request_of(prompt(10), 10);
    int seen = 0;
    request.check = [&, keep](int64_t, int32_t) -> TokenVerdict {
      return ++seen == 4 ? TokenVerdict{.keep = keep, .stop = true} : TokenVerdict{};
    };
    const Reply reply = setup.run(request)[0];
    seen = 0;
    const SoloRun want = alone(request, 1000);
    EXPECT_EQ(reply.tokens.size(), keep ? 4u : 3u);
    EXPECT_EQ(reply.end.finish, FinishReason::kStop);
    EXPECT_EQ(first_difference(want, reply), "");
    EXPECT_EQ(setup.left.at({keep ? 1u : 2u, 0}), want.fingerprint);
  }
}

TEST_F(StreamEngineTest, TheContextEndsTheReplyAtTheExactCount) {
  Setup setup({.context = 12, .streams = 1, .rules = {.rows = 16}});
  for (const size_t length : {1u, 11u, 12u}) {
    for (const bool asked : {true, false}) {
      Request request = request_of(prompt(length), 1000);
      if (!asked) request.max_tokens.reset();
      const Reply reply = setup.run(request)[0];
      EXPECT_EQ(reply.tokens.size(), 12 - length);
      EXPECT_EQ(reply.end.finish, FinishReason::kLength);
    }
  }
}

TEST_F(StreamEngineTest, NoTokensWantedReadsThePrompt) {
  Setup setup({.context = 100, .streams = 1, .rules = {.rows = 16}});
  const Request request = request_of(prompt(20), 0);
  const Reply reply = setup.run(request)[0];
  EXPECT_TRUE(reply.tokens.empty());
  EXPECT_EQ(reply.end.finish, FinishReason::kLength);
  EXPECT_EQ(reply.end.timings.prompt_tokens, 20);
  EXPECT_EQ(setup.left.at({1, 0}), alone(request, 100).fingerprint);
}

TEST_F(StreamEngineTest, CancellingOneLeavesTheOthersAlone) {
  Setup setup({.context = 1000, .streams = 2, .rules = {.rows = 16}});
  const Request keeps = request_of(prompt(30), 40, 1);
  ReplyStream kept = setup.engine.submit(keeps).value();
  ReplyStream decoding = setup.engine.submit(request_of(prompt(5), 900, 2)).value();
  ReplyStream queued = setup.engine.submit(request_of(prompt(5), 900, 3)).value();
  queued.cancel();
  const std::vector<Reply> never = collect_replies(queued);
  EXPECT_EQ(never[0].end.finish, FinishReason::kCancelled);
  EXPECT_TRUE(never[0].tokens.empty());
  while (!std::holds_alternative<ReplyToken>(decoding.next()->what)) {
  }
  decoding.cancel();
  const std::vector<Reply> cut = collect_replies(decoding);
  EXPECT_EQ(cut[0].end.finish, FinishReason::kCancelled);
  EXPECT_LT(cut[0].tokens.size(), 899u);
  EXPECT_EQ(first_difference(alone(keeps, 1000), collect_replies(kept)[0]), "");
  EXPECT_EQ(setup.engine.figures().pages_taken, 0);
}

// A prompt is left within one round, and its rows are in no later one.
TEST_F(StreamEngineTest, ACancelledPromptIsLeftWithinOneRound) {
  std::atomic<bool> cancel = false;
  int64_t rounds = 0;
  Setup setup({.context = 1000, .streams = 1, .rules = {.rows = 4}});
  // The flag is set inside the second of ten rounds.
  setup.pass.set_tap([&](std::string_view stage, int64_t, std::span<const float>, int64_t) {
    if (stage == "embed" && ++rounds == 2) cancel = true;
  });
  Request request = request_of(prompt(40), 5);
  request.cancel = &cancel;
  const Reply reply = setup.run(request)[0];
  EXPECT_EQ(reply.end.finish, FinishReason::kCancelled);
  EXPECT_EQ(reply.end.timings.prompt_tokens, 8);
  EXPECT_EQ(rounds, 2);
}

TEST_F(StreamEngineTest, DroppingTheStreamCancels) {
  Setup setup({.context = 5000, .streams = 1, .rules = {.rows = 16}});
  {
    const ReplyStream dropped = setup.engine.submit(request_of(prompt(5), 4900)).value();
  }
  const Reply next = setup.run(request_of(prompt(5), 3))[0];
  EXPECT_EQ(next.tokens.size(), 3u);
}

TEST_F(StreamEngineTest, AnEngineThatEndsCancelsWhatIsLeft) {
  std::optional<ReplyStream> stream;
  {
    Setup setup({.context = 5000, .streams = 1, .rules = {.rows = 16}});
    stream.emplace(setup.engine.submit(request_of(prompt(5), 4900)).value());
  }
  EXPECT_EQ(collect_replies(*stream)[0].end.finish, FinishReason::kCancelled);
}

TEST_F(StreamEngineTest, BadRequestsAreRefusedBeforeAnythingRuns) {
  Setup setup({.context = 100, .streams = 2, .rules = {.rows = 16}});
  const auto refusal = [&](Request request) {
    const auto result = setup.engine.submit(std::move(request));
    return result.ok() ? std::string("it was taken") : result.error().message;
  };
  EXPECT_EQ(refusal({.prompt = {}}), "the prompt has no tokens");
  EXPECT_EQ(refusal({.prompt = {5, 4096}}), "token id 4096 is not in the vocabulary of 4096 ids");
  EXPECT_EQ(refusal({.prompt = prompt(101)}), "the prompt has 101 tokens, the context holds 100");
  EXPECT_EQ(refusal({.prompt = prompt(3), .max_tokens = -1}),
            "max_tokens is -1; it must be at least 0");
  EXPECT_EQ(refusal({.prompt = prompt(3), .replies = 3}),
            "3 replies were asked for; it must be from 1 to 2, the streams of this engine");
  EXPECT_EQ(refusal({.prompt = prompt(3), .top_logprobs = 21}),
            "logprobs is 21; it must be from 0 to 20");
  EXPECT_EQ(refusal({.prompt = prompt(3), .prompt_logprobs = -1}),
            "prompt_logprobs is -1; it must be from 0 to 20");
  EXPECT_FALSE(setup.engine.submit({.prompt = prompt(3), .sampling = {.top_p = 0.0}}).ok());
  EXPECT_EQ(setup.engine.figures().rounds, 0);
}

}  // namespace
}  // namespace lockstep
