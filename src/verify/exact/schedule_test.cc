#include "verify/exact/schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace lockstep::verify {
namespace {

// Positions that each stream stands at when a schedule is over; every rule of a step is held.
std::vector<int64_t> play(const Schedule& schedule, Lengths lengths) {
  std::vector<int64_t> positions(lengths.size(), 0), marks(lengths.size(), -1);
  for (const auto& step : schedule.steps) {
    if (const auto* fork = std::get_if<Fork>(&step)) {
      EXPECT_EQ(positions[fork->to], 0);
      positions[fork->to] = fork->at_mark ? marks[fork->from] : positions[fork->from];
      continue;
    }
    std::set<size_t> seen;
    const Round& round = std::get<Round>(step);
    EXPECT_FALSE(round.parts.empty());
    for (const Part& part : round.parts) {
      EXPECT_TRUE(seen.insert(part.stream).second) << "a stream twice in a round";
      EXPECT_GE(part.rows, 1);
      EXPECT_LE(part.right, part.rows);
      EXPECT_LE(positions[part.stream] + part.right, lengths[part.stream]);
      marks[part.stream] = positions[part.stream] + part.mark.value_or(0);
      if (part.commit) positions[part.stream] += part.right;
    }
  }
  return positions;
}

void expect_reads_all(const Schedule& schedule, const std::vector<int64_t>& lengths) {
  EXPECT_EQ(play(schedule, lengths), lengths) << schedule.name;
}

TEST(Schedules, EndWithEveryTokenRead) {
  const std::vector<int64_t> lengths = {18, 21, 24, 70};
  for (const int64_t chunk : {1, 7, 64, 70}) expect_reads_all(chunked(lengths, chunk), lengths);
  for (const uint32_t seed : {1u, 2u, 3u}) expect_reads_all(mixed(lengths, seed), lengths);
  const std::vector<int64_t> pair = {30, 200};
  expect_reads_all(reply_beside_prompt(pair, 63), pair);
  const std::vector<int64_t> forks = {50, 72, 72, 72};
  for (int64_t window = 1; window <= 9; ++window) {
    expect_reads_all(windows(forks, 50, window), forks);
  }
  const std::vector<int64_t> two = {73, 103};
  expect_reads_all(resumed(two, 63), two);
  expect_reads_all(resumed_inside(two, 63), two);
  const std::vector<int64_t> one = {40};
  expect_reads_all(cancelled(one), one);
}

// How many drafts of a stream's windows were right, by count of windows.
std::map<int64_t, int> drafts_right(const Schedule& schedule, size_t stream) {
  std::map<int64_t, int> counts;
  for (const auto& step : schedule.steps) {
    const auto* round = std::get_if<Round>(&step);
    if (round == nullptr) continue;
    for (const Part& part : round->parts) {
      if (part.stream == stream) ++counts[part.right - 1];
    }
  }
  return counts;
}

TEST(Schedules, WindowsAreAllRightAllWrongAndMixed) {
  const std::vector<int64_t> lengths = {50, 82, 82, 82};
  const Schedule schedule = windows(lengths, 50, 4);
  EXPECT_EQ(drafts_right(schedule, 1), (std::map<int64_t, int>{{3, 8}}));
  EXPECT_EQ(drafts_right(schedule, 2), (std::map<int64_t, int>{{0, 32}}));
  EXPECT_GE(drafts_right(schedule, 3).size(), 3u);
}

TEST(Schedules, StreamsBeginAtDifferentTimes) {
  const std::vector<int64_t> lengths(17, 40);
  const Schedule schedule = mixed(lengths, 17);
  std::set<size_t> begun;
  bool decodes_beside_prompt = false;
  for (const auto& step : schedule.steps) {
    const Round& round = std::get<Round>(step);
    bool one = false, many = false;
    for (const Part& part : round.parts) {
      (part.rows == 1 ? one : many) = true;
      begun.insert(part.stream);
    }
    decodes_beside_prompt |= one && many;
    if (begun.size() < 4) {
      EXPECT_LT(round.parts.size(), 8u);
    }
  }
  EXPECT_EQ(begun.size(), 17u);
  EXPECT_TRUE(decodes_beside_prompt);
  EXPECT_LE(widest_round(schedule), 17 * 17);
}

}  // namespace
}  // namespace lockstep::verify
