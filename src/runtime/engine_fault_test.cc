// Each phase of a round made to fail, once and for good: who must end, ends by name; the others go
// on with unchanged bits; nothing leaks.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <utility>

#include "model/testing/runner.h"
#include "runtime/stream_engine.h"
#include "runtime/testing/solo_run.h"
#include "runtime/tiny_model_test.h"

namespace lockstep {
namespace {

using testing::first_difference;
using testing::solo_run;
using testing::SoloRun;

constexpr int64_t kContext = 200;
constexpr int64_t kStreams = 4;

struct Plan {
  RoundPhase phase = RoundPhase::kForward;
  uint64_t request = 2;
  int after = 0;     // times that the phase goes well for it first
  int failures = 1;  // and then fails
};

const char* name_of(RoundPhase phase) {
  switch (phase) {
    case RoundPhase::kEnter:
      return "enter";
    case RoundPhase::kForward:
      return "forward";
    case RoundPhase::kDraw:
      return "draw";
    case RoundPhase::kCheck:
      return "check";
    case RoundPhase::kCommit:
      return "commit";
    case RoundPhase::kSave:
      return "save";
    case RoundPhase::kPublish:
      return "publish";
  }
  return "?";
}

class EngineFault : public ::testing::TestWithParam<RoundPhase> {
 protected:
  static void SetUpTestSuite() { model_ = new Model(open_micro_model(512)); }
  static void TearDownTestSuite() {
    delete model_;
    model_ = nullptr;
  }

  // Request 2 has two replies, so that its prompt is saved for the other one.
  static std::vector<Request> requests() {
    std::vector<Request> all;
    for (int32_t i = 0; i < 4; ++i) {
      Request request;
      for (int32_t id = 0; id < 20 + 9 * i; ++id) request.prompt.push_back(100 * i + 3 * id);
      request.max_tokens = 12;
      request.sampling.seed = static_cast<uint64_t>(i);
      request.replies = i == 1 ? 2 : 1;
      all.push_back(request);
    }
    return all;
  }

  struct Outcome {
    std::vector<std::vector<Reply>> replies;
    std::map<std::pair<uint64_t, int64_t>, std::vector<std::byte>> left;
    EngineFigures figures;
  };

  static Outcome run(const Plan& plan) {
    Outcome outcome;
    ThreadPool pool(2);
    ForwardPass pass(*model_, {.pool = pool, .isa = best_isa()},
                     {.rows = 24, .logit_rows = kStreams});
    std::atomic<int> asked = 0;  // draws are shared by threads
    EngineOptions options = {.context = kContext,
                             .streams = kStreams,
                             .pages = kStreams * EngineOptions::least_pages(kContext),
                             .rules = {.rows = 24}};
    options.fault = [&](RoundPhase phase, uint64_t request, int64_t) -> Status {
      if (phase != plan.phase || request != plan.request) return {};
      const int turn = asked++;
      if (turn < plan.after || turn >= plan.after + plan.failures) return {};
      return Error{ErrorCode::kIo, "the planted fault"};
    };
    options.leave = [&](uint64_t request, int64_t reply, const SequenceState& state) {
      outcome.left[{request, reply}] = testing::fingerprint(state);
    };
    const auto engine = StreamEngine::make(pass, pool, options).value();
    std::vector<ReplyStream> streams;
    for (const Request& request : requests()) {
      streams.push_back(engine->submit(request).value());
    }
    for (ReplyStream& stream : streams) outcome.replies.push_back(collect_replies(stream));
    EXPECT_GT(asked.load(), plan.after) << "the phase never came to its fault";
    // One more, so that the figures of the last round are in.
    Request last = requests()[0];
    last.max_tokens = 1;
    ReplyStream more = engine->submit(last).value();
    EXPECT_TRUE(collect_replies(more)[0].end.status.ok()) << "the engine must go on";
    outcome.figures = engine->figures();
    return outcome;
  }

  // Replies that failed. All others are held to what they are alone.
  static int check(const Outcome& outcome) {
    TestPass pass(*model_, 64);
    int failed = 0;
    for (size_t i = 0; i < outcome.replies.size(); ++i) {
      for (size_t reply = 0; reply < outcome.replies[i].size(); ++reply) {
        const Reply& got = outcome.replies[i][reply];
        const auto index = static_cast<int64_t>(reply);
        if (!got.end.status.ok()) {
          EXPECT_EQ(got.end.status.error().message, "the planted fault");
          EXPECT_EQ(i, 1u) << "a stream that had nothing to do with the fault";
          ++failed;
          continue;
        }
        const SoloRun want = solo_run(pass.get(), requests()[i], index, kContext, 64);
        EXPECT_EQ(first_difference(want, got), "") << "request " << i + 1 << " reply " << reply;
        EXPECT_EQ(outcome.left.at({i + 1, index}), want.fingerprint)
            << "request " << i + 1 << " reply " << reply;
      }
    }
    EXPECT_EQ(outcome.figures.pages_taken, 0) << "pages leak";
    EXPECT_EQ(outcome.figures.running, 0);
    EXPECT_EQ(outcome.figures.waiting, 0);
    return failed;
  }

  static Model* model_;
};
Model* EngineFault::model_ = nullptr;

TEST_P(EngineFault, EndsWhoMustEndAndNobodyElse) {
  // The prompt is saved once; every other phase comes to each of the two replies.
  const bool once = GetParam() == RoundPhase::kSave;
  EXPECT_EQ(check(run({.phase = GetParam(), .failures = 1000})), once ? 1 : 2);
}

// What fails once for the whole pass is tried again stream by stream, and nobody ends.
TEST_P(EngineFault, ThatPassesEndsAtMostOneReply) {
  const int after = GetParam() == RoundPhase::kSave || GetParam() == RoundPhase::kEnter ? 0 : 3;
  const int failed = check(run({.phase = GetParam(), .after = after, .failures = 1}));
  EXPECT_EQ(failed, GetParam() == RoundPhase::kForward ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(Phases, EngineFault,
                         ::testing::Values(RoundPhase::kEnter, RoundPhase::kForward,
                                           RoundPhase::kDraw, RoundPhase::kCheck,
                                           RoundPhase::kCommit, RoundPhase::kSave,
                                           RoundPhase::kPublish),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace lockstep
