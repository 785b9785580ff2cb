#include "runtime/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace lockstep {
namespace {

using Rows = std::vector<int64_t>;
using Indices = std::vector<size_t>;

// Seconds of rounds of a dense 0.8b model on two AVX2 cores, as recorded: reading the weights costs
// as much as about four rows of arithmetic.
const std::map<int64_t, double> kRecorded = {{1, 0.046},  {2, 0.058},  {4, 0.082},  {8, 0.131},
                                             {16, 0.228}, {32, 0.418}, {64, 0.802}, {128, 1.571}};

CostModel recorded_costs() {
  CostModel costs;
  for (const auto& [rows, seconds] : kRecorded) costs.record(rows, seconds);
  return costs;
}

RunningStream reply(uint64_t last_served = 0, int64_t rows = 1) {
  return {.rows = rows, .reading = false, .last_served = last_served};
}
RunningStream prompt(int64_t rows, uint64_t last_served = 0) {
  return {.rows = rows, .reading = true, .last_served = last_served};
}

TEST(ChooseEntrants, OldestFirstAsFarAsPlacesAndPagesGo) {
  const std::vector<WaitingStream> waiting = {{.pages = 3}, {.pages = 3}, {.pages = 3}};
  EXPECT_EQ(choose_entrants({}, waiting, 2, 100), (Indices{0, 1}));
  EXPECT_EQ(choose_entrants({}, waiting, 9, 8), (Indices{0, 1}));
  EXPECT_EQ(choose_entrants({}, waiting, 0, 100), Indices{});
  EXPECT_EQ(choose_entrants({}, {}, 4, 100), Indices{});
}

TEST(ChooseEntrants, ALargeOneAtTheHeadLetsSmallOnesPass) {
  const std::vector<WaitingStream> waiting = {
      {.pages = 50}, {.pages = 2}, {.pages = 30}, {.pages = 3}};
  EXPECT_EQ(choose_entrants({}, waiting, 4, 10), (Indices{1, 3}));
}

TEST(ChooseEntrants, ButNotForEver) {
  std::vector<WaitingStream> waiting = {{.pages = 50, .overtaken = 15}, {.pages = 2}, {.pages = 2}};
  EXPECT_EQ(choose_entrants({.overtakes = 16}, waiting, 4, 10), (Indices{1}));
  waiting[0].overtaken = 16;
  EXPECT_EQ(choose_entrants({.overtakes = 16}, waiting, 4, 10), Indices{})
      << "nobody enters until the large one fits";
  EXPECT_EQ(choose_entrants({.overtakes = 16}, waiting, 4, 60), (Indices{0, 1, 2}));
}

TEST(ChooseEntrants, MoreThanTheOvertakesMayEnterPastNobody) {
  const std::vector<WaitingStream> waiting(40, {.pages = 1});
  EXPECT_EQ(choose_entrants({.overtakes = 16}, waiting, 40, 100).size(), 40u);
}

TEST(ChooseEntrants, OneThatIsHeldBlocksNobody) {
  const std::vector<WaitingStream> waiting = {{.pages = 1, .held = true, .overtaken = 99},
                                              {.pages = 1}};
  EXPECT_EQ(choose_entrants({}, waiting, 4, 10), (Indices{1}));
}

TEST(ChooseRows, RepliesAloneAllRun) {
  const std::vector<RunningStream> running(7, reply());
  EXPECT_EQ(choose_rows({}, recorded_costs(), running, 0.0), Rows(7, 1));
}

TEST(ChooseRows, TooManyRepliesTakeTurns) {
  std::vector<RunningStream> running(10, reply());
  const SchedulerRules rules = {.rows = 4};
  std::vector<int64_t> served(10, 0);
  uint64_t turns = 0;
  for (int round = 0; round < 50; ++round) {
    const Rows rows = choose_rows(rules, recorded_costs(), running, 0.0);
    EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), int64_t{0}), 4);
    std::vector<size_t> chosen;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] > 0) chosen.push_back(i);
    }
    std::sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) {
      return std::pair(running[a].last_served, a) < std::pair(running[b].last_served, b);
    });
    for (const size_t i : chosen) {
      ++served[i];
      running[i].last_served = ++turns;
    }
  }
  EXPECT_EQ(*std::min_element(served.begin(), served.end()), 20);
  EXPECT_EQ(*std::max_element(served.begin(), served.end()), 20);
}

TEST(ChooseRows, WindowsAreCutBeforeAStreamIsLeftOut) {
  const std::vector<RunningStream> running = {reply(3, 5), reply(1, 5), reply(2, 5)};
  EXPECT_EQ(choose_rows({.rows = 64}, recorded_costs(), running, 0.0), (Rows{5, 5, 5}));
  EXPECT_EQ(choose_rows({.rows = 8}, recorded_costs(), running, 0.0), (Rows{1, 5, 2}));
}

TEST(ChooseRows, APromptAloneGetsWhatTheTimeOfARoundAllows) {
  const std::vector<RunningStream> running = {prompt(5000)};
  const Rows rows = choose_rows({.round_seconds = 0.5}, recorded_costs(), running, 0.0);
  EXPECT_GE(rows[0], 36);
  EXPECT_LE(rows[0], 40);  // 0.418 s for 32, 0.802 s for 64
  EXPECT_EQ(choose_rows({.round_seconds = 100.0}, recorded_costs(), running, 0.0), Rows{128});
}

TEST(ChooseRows, AModelWhoseSingleRowTakesLongStillReadsInPieces) {
  CostModel costs;
  costs.record(1, 3.0);
  costs.record(16, 10.0);
  const std::vector<RunningStream> running = {prompt(5000)};
  EXPECT_EQ(choose_rows({.round_seconds = 0.1}, costs, running, 0.0), Rows{16});
}

TEST(ChooseRows, TheFirstRoundIsCarefulBecauseNothingIsKnown) {
  const std::vector<RunningStream> running = {prompt(5000)};
  EXPECT_EQ(choose_rows({.piece = 16}, CostModel(), running, 0.0), Rows{32});
}

TEST(ChooseRows, ShortPromptsAreNotStuckBehindLongOnes) {
  const std::vector<RunningStream> running = {prompt(9000), prompt(10), prompt(8000), prompt(7)};
  const Rows rows = choose_rows({.round_seconds = 9.0}, recorded_costs(), running, 0.0);
  EXPECT_EQ(rows[1], 10);
  EXPECT_EQ(rows[3], 7);
  EXPECT_EQ(rows[0] + rows[2], 128 - 17) << "what the short ones leave is used";
  EXPECT_LE(std::abs(rows[0] - rows[2]), 1);
}

TEST(ChooseRows, MorePromptsThanPiecesTakeTurns) {
  std::vector<RunningStream> running = {};
  for (uint64_t i = 0; i < 20; ++i) running.push_back(prompt(1000, 20 - i));
  const Rows rows =
      choose_rows({.rows = 64, .round_seconds = 9.0, .piece = 16}, recorded_costs(), running, 0.0);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(rows[i], i >= 16 ? 16 : 0) << i;
}

TEST(ChooseRows, DebtIsPaidBeforePromptsGoOnButNotWhereNobodyReplies) {
  const std::vector<RunningStream> mixed = {reply(), prompt(100)};
  EXPECT_GT(choose_rows({}, recorded_costs(), mixed, 0.0)[1], 0);
  EXPECT_EQ(choose_rows({}, recorded_costs(), mixed, 0.1), (Rows{1, 0}));
  const std::vector<RunningStream> alone = {prompt(100)};
  EXPECT_GT(choose_rows({}, recorded_costs(), alone, 0.1)[0], 0);
}

TEST(ChooseVictim, TheYoungestGivesWayAndNobodyIsLeftAlone) {
  EXPECT_EQ(choose_victim(std::vector<uint64_t>{4, 9, 2}), 1u);
  EXPECT_EQ(choose_victim(std::vector<uint64_t>{4}), std::nullopt);
  EXPECT_EQ(choose_victim({}), std::nullopt);
}

// Runs the decisions over a trace of prompts that arrive while replies are made, on the recorded
// costs.
struct Trace {
  SchedulerRules rules;
  CostModel costs = recorded_costs();
  std::vector<RunningStream> running = {};
  double debt = 0.0;
  double seconds = 0.0;
  double reply_seconds = 0.0;  // what the replies' rows would have cost alone
  uint64_t round = 0;

  void step() {
    const Rows rows = choose_rows(rules, costs, running, debt);
    int64_t replies = 0;
    int64_t prompts = 0;
    ++round;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] == 0) continue;
      (running[i].reading ? prompts : replies) += rows[i];
      running[i].last_served = round;
      if (running[i].reading) running[i].rows -= rows[i];
    }
    const double took = costs.estimate(replies + prompts);
    debt = next_debt(rules, costs, debt, replies, prompts, took);
    seconds += took;
    reply_seconds += costs.estimate(replies);
  }
};

TEST(Trace, RunningRepliesKeepTheirShareWhilePromptsAreRead) {
  for (const double share : {0.3, 0.5, 0.8}) {
    for (const size_t replies : {1u, 4u, 15u}) {
      Trace trace = {.rules = {.reply_share = share}};
      trace.running.assign(replies, reply());
      trace.running.push_back(prompt(4000));
      trace.running.push_back(prompt(300));
      while (trace.running.back().rows + trace.running[replies].rows > 0) {
        trace.step();
        ASSERT_LT(trace.round, 100000u) << "prompts starve";
      }
      const double kept = trace.reply_seconds / trace.seconds;
      EXPECT_GE(kept, share - 0.02) << replies << " replies, share " << share;
      EXPECT_LE(kept, share + 0.2) << "prompts get what is theirs";
    }
  }
}

TEST(Trace, NoRoundWithRepliesIsMuchLongerThanAPiece) {
  Trace trace;
  trace.running = {reply(), prompt(2000)};
  double longest = 0.0;
  while (trace.running[1].rows > 0) {
    const double before = trace.seconds;
    trace.step();
    longest = std::max(longest, trace.seconds - before);
  }
  EXPECT_LE(longest, trace.costs.estimate(17) + 1e-9);
}

TEST(Trace, AShortPromptIsReadInAFewRoundsWhateverElseIsRead) {
  Trace trace;
  for (int i = 0; i < 6; ++i) trace.running.push_back(prompt(30000));
  for (int i = 0; i < 20; ++i) trace.step();
  trace.running.push_back(prompt(40));
  const uint64_t came = trace.round;
  while (trace.running.back().rows > 0) trace.step();
  EXPECT_LE(trace.round - came, 9u);
}

}  // namespace
}  // namespace lockstep
