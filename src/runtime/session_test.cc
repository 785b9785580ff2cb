#include "runtime/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

class SessionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = new Model(open_model(tiny_model_folder())); }
  static void TearDownTestSuite() {
    delete model_;
    model_ = nullptr;
  }

  static std::vector<int32_t> prompt(size_t length) {
    std::vector<int32_t> ids(length);
    std::iota(ids.begin(), ids.end(), 300);
    return ids;
  }

  static std::vector<int32_t> ids_of(const Reply& reply) {
    std::vector<int32_t> ids;
    for (const ReplyToken& token : reply.tokens) ids.push_back(token.id);
    return ids;
  }

  static GenerateRequest request_of(const std::vector<int32_t>& ids, int64_t max_tokens) {
    return {.prompt = ids, .max_tokens = max_tokens, .sampling = {.temperature = 1.0, .seed = 7}};
  }

  static Model* model_;
};
Model* SessionTest::model_ = nullptr;

TEST_F(SessionTest, ChunkSizeAndThreadsDoNotShow) {
  const std::vector<int32_t> ids = prompt(19);
  std::vector<int32_t> expected;
  for (const int64_t rows : {64, 1, 7, 19}) {
    TestPass pass(*model_, rows, rows == 7 ? 3 : 1);
    Session session(pass.get(), 1000);
    const Reply reply = session.generate(request_of(ids, 6), {}).value();
    if (expected.empty()) expected = ids_of(reply);
    EXPECT_EQ(ids_of(reply), expected) << rows;
    EXPECT_EQ(reply.timings.prompt_tokens, 19);
    EXPECT_EQ(reply.timings.reply_tokens, 6);
    EXPECT_EQ(reply.timings.decode_rounds, 5);
  }
}

TEST_F(SessionTest, AnAppendContinuesAndEqualsAFreshReading) {
  TestPass pass(*model_), other_pass(*model_);
  Session session(pass.get(), 1000), fresh(other_pass.get(), 1000);
  std::vector<int32_t> ids = prompt(20);
  const Reply first = session.generate(request_of(ids, 5), {}).value();
  EXPECT_EQ(session.ids().size(), 24u) << "the last token has not been through the model";
  for (const int32_t id : ids_of(first)) ids.push_back(id);
  for (const int32_t id : {500, 501, 502}) ids.push_back(id);
  const Reply continued = session.generate(request_of(ids, 8), {}).value();
  EXPECT_EQ(continued.timings.cached_tokens, 24);
  EXPECT_EQ(ids_of(continued), ids_of(fresh.generate(request_of(ids, 8), {}).value()));
}

TEST_F(SessionTest, AnyOtherPromptStartsAfresh) {
  TestPass pass(*model_), other_pass(*model_);
  Session session(pass.get(), 1000), fresh(other_pass.get(), 1000);
  ASSERT_TRUE(session.generate(request_of(prompt(8), 2), {}).ok());
  std::vector<int32_t> changed = prompt(12);
  changed[3] = 9;
  for (const std::vector<int32_t>& ids : {prompt(5), changed, prompt(8)}) {
    const Reply reply = session.generate(request_of(ids, 2), {}).value();
    EXPECT_EQ(reply.timings.cached_tokens, 0);
    fresh.reset();
    EXPECT_EQ(ids_of(reply), ids_of(fresh.generate(request_of(ids, 2), {}).value()));
  }
}

// Nothing is left to run, so nothing would give the logits.
TEST_F(SessionTest, ThePromptJustReadStartsAfreshToo) {
  TestPass pass(*model_);
  Session session(pass.get(), 1000);
  const std::vector<int32_t> ids = prompt(5);
  const Reply first = session.generate(request_of(ids, 1), {}).value();
  ASSERT_EQ(session.ids().size(), ids.size());
  const Reply again = session.generate(request_of(ids, 1), {}).value();
  EXPECT_EQ(again.timings.cached_tokens, 0);
  EXPECT_EQ(ids_of(again), ids_of(first));
}

TEST_F(SessionTest, AStopIdEndsTheReplyAndIsNoPartOfIt) {
  TestPass pass(*model_);
  Session session(pass.get(), 1000);
  const std::vector<int32_t> ids = prompt(10);
  const std::vector<int32_t> all = ids_of(session.generate(request_of(ids, 10), {}).value());
  const std::vector<int32_t> stops = {all[6], 12287};
  const auto expected = std::find(all.begin(), all.end(), all[6]) - all.begin();
  GenerateRequest request = request_of(ids, 10);
  request.stop_ids = stops;
  const Reply reply = session.generate(request, {}).value();
  EXPECT_EQ(reply.finish, FinishReason::kStop);
  EXPECT_EQ(reply.stop_id, all[6]);
  EXPECT_EQ(ids_of(reply), std::vector<int32_t>(all.begin(), all.begin() + expected));
}

TEST_F(SessionTest, TheContextEndsTheReplyAtTheExactCount) {
  TestPass pass(*model_);
  Session session(pass.get(), 12);
  for (const size_t length : {1u, 11u, 12u}) {
    const std::vector<int32_t> ids = prompt(length);
    GenerateRequest request = request_of(ids, 1000);
    const Reply reply = session.generate(request, {}).value();
    EXPECT_EQ(reply.tokens.size(), 12 - length);
    EXPECT_EQ(reply.finish, FinishReason::kLength);
    request.max_tokens.reset();
    EXPECT_EQ(session.generate(request, {}).value().tokens.size(), 12 - length);
  }
  const std::vector<int32_t> longer = prompt(13);
  const auto refused = session.generate(request_of(longer, 1), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "the prompt has 13 tokens, the context holds 12");
}

TEST_F(SessionTest, NoTokensWantedReadsThePrompt) {
  TestPass pass(*model_);
  Session session(pass.get(), 100);
  const std::vector<int32_t> ids = prompt(20);
  const Reply reply = session.generate(request_of(ids, 0), {}).value();
  EXPECT_TRUE(reply.tokens.empty());
  EXPECT_EQ(reply.finish, FinishReason::kLength);
  EXPECT_EQ(session.ids().size(), 20u);
}

TEST_F(SessionTest, ACancelledReplyLeavesTheSessionUsable) {
  TestPass pass(*model_), other_pass(*model_);
  Session session(pass.get(), 1000), fresh(other_pass.get(), 1000);
  std::atomic<bool> cancel = false;
  int seen = 0;
  const std::vector<int32_t> ids = prompt(10);
  const Reply reply =
      session
          .generate(
              request_of(ids, 100), [&](const ReplyToken&) { cancel = ++seen == 3; }, &cancel)
          .value();
  EXPECT_EQ(reply.finish, FinishReason::kCancelled);
  EXPECT_EQ(reply.tokens.size(), 3u);
  std::vector<int32_t> more = ids;
  for (const int32_t id : ids_of(reply)) more.push_back(id);
  more.push_back(42);
  const Reply next = session.generate(request_of(more, 5), {}).value();
  EXPECT_EQ(next.timings.cached_tokens, 12);
  EXPECT_EQ(ids_of(next), ids_of(fresh.generate(request_of(more, 5), {}).value()));
}

TEST_F(SessionTest, ACancelledPromptLeavesTheSessionUsable) {
  TestPass pass(*model_, 4), other_pass(*model_);
  Session session(pass.get(), 1000), fresh(other_pass.get(), 1000);
  std::atomic<bool> cancel = false;
  int64_t layers = 0;
  // Layer outputs come 8 to a chunk: the flag is set inside the second of ten chunks.
  pass.get().set_tap([&](std::string_view stage, int64_t, std::span<const float>, int64_t) {
    if (stage == "layer" && ++layers == 10) cancel = true;
  });
  const std::vector<int32_t> ids = prompt(40);
  const Reply reply = session.generate(request_of(ids, 5), {}, &cancel).value();
  EXPECT_EQ(reply.finish, FinishReason::kCancelled);
  EXPECT_TRUE(reply.tokens.empty());
  EXPECT_EQ(session.ids().size(), 8u);
  cancel = false;
  const Reply again = session.generate(request_of(ids, 5), {}, &cancel).value();
  EXPECT_EQ(again.timings.cached_tokens, 8);
  EXPECT_EQ(ids_of(again), ids_of(fresh.generate(request_of(ids, 5), {}).value()));
}

TEST_F(SessionTest, TheCallbackSeesEveryTokenWithItsPosition) {
  TestPass pass(*model_);
  Session session(pass.get(), 1000);
  std::vector<int32_t> seen;
  const std::vector<int32_t> ids = prompt(6);
  const Reply reply = session
                          .generate(request_of(ids, 7),
                                    [&](const ReplyToken& token) {
                                      EXPECT_EQ(token.position, 6 + int64_t(seen.size()));
                                      seen.push_back(token.id);
                                    })
                          .value();
  EXPECT_EQ(seen, ids_of(reply));
}

TEST_F(SessionTest, LogprobsComeOnDemandAndGreedyTakesTheFirst) {
  TestPass pass(*model_);
  Session session(pass.get(), 1000);
  const std::vector<int32_t> ids = prompt(6);
  GenerateRequest request = request_of(ids, 4);
  EXPECT_FALSE(session.generate(request, {}).value().tokens[0].logprobs.has_value());
  request.sampling.temperature = 0.0;
  request.top_logprobs = 3;
  const Reply reply = session.generate(request, {}).value();
  for (const ReplyToken& token : reply.tokens) {
    ASSERT_TRUE(token.logprobs.has_value());
    ASSERT_EQ(token.logprobs->top.size(), 3u);
    EXPECT_EQ(token.logprobs->top[0].id, token.id);
    EXPECT_EQ(token.logprobs->chosen.logprob, token.logprobs->top[0].logprob);
    EXPECT_LT(token.logprobs->chosen.logprob, 0.0);
  }
}

TEST_F(SessionTest, BadRequestsAreRefusedBeforeAnythingRuns) {
  TestPass pass(*model_);
  Session session(pass.get(), 100);
  const std::vector<int32_t> good = prompt(3), unknown = {5, 12288}, negative = {-1};
  EXPECT_EQ(session.generate({.prompt = {}}, {}).error().message, "the prompt has no tokens");
  EXPECT_EQ(session.generate({.prompt = unknown}, {}).error().message,
            "token id 12288 is not in the vocabulary of 12288 ids");
  EXPECT_FALSE(session.generate({.prompt = negative}, {}).ok());
  EXPECT_FALSE(session.generate({.prompt = good, .max_tokens = -1}, {}).ok());
  EXPECT_FALSE(session.generate({.prompt = good, .top_logprobs = 21}, {}).ok());
  EXPECT_FALSE(session.generate({.prompt = good, .sampling = {.top_p = 0.0}}, {}).ok());
  EXPECT_TRUE(session.ids().empty());
}

}  // namespace
}  // namespace lockstep
