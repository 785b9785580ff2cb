#include "runtime/scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lockstep {
namespace {

// Indices of the streams that read (or do not), in the order in which they are served.
std::vector<size_t> serving_order(std::span<const RunningStream> running, bool reading) {
  std::vector<size_t> order;
  for (size_t i = 0; i < running.size(); ++i) {
    if (running[i].reading == reading && running[i].rows > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(running[a].last_served, running[a].rows) <
           std::pair(running[b].last_served, running[b].rows);
  });
  return order;
}

// Returns the rows given.
int64_t give_to_replies(int64_t room, std::span<const RunningStream> running,
                        std::vector<int64_t>& rows) {
  const std::vector<size_t> order = serving_order(running, false);
  const int64_t streams = std::min(room, static_cast<int64_t>(order.size()));
  int64_t left = room;
  for (int64_t i = 0; i < streams; ++i) {
    const size_t stream = order[static_cast<size_t>(i)];
    const int64_t others = streams - i - 1;
    rows[stream] = std::min(running[stream].rows, left - others);
    left -= rows[stream];
  }
  return room - left;
}

// The most rows in [0, room] with which a round that already has `others` stays within `seconds`.
int64_t rows_within(const CostModel& costs, int64_t others, int64_t room, double seconds) {
  int64_t rows = room;
  while (rows > 0 && costs.estimate(others + rows) > seconds) --rows;
  return rows;
}

int64_t prompt_room(const SchedulerRules& rules, const CostModel& costs, int64_t replies,
                    double debt) {
  const int64_t room = rules.rows - replies;
  if (!costs.measured()) return std::min(room, 2 * rules.piece);
  double seconds = std::max(rules.round_seconds, kLeastRounds * costs.estimate(1));
  if (replies > 0) {
    if (debt > 0.0) return 0;
    seconds = std::min(seconds, costs.estimate(replies) / rules.reply_share);
  }
  return std::max(rows_within(costs, replies, room, seconds), std::min(room, rules.piece));
}

void give_to_prompts(const SchedulerRules& rules, int64_t room,
                     std::span<const RunningStream> running, std::vector<int64_t>& rows) {
  std::vector<size_t> order = serving_order(running, true);
  if (room == 0 || order.empty()) return;
  const int64_t places = std::max<int64_t>(1, room / rules.piece);
  if (static_cast<int64_t>(order.size()) > places) order.resize(static_cast<size_t>(places));
  // The shortest first: what it leaves of its part is shared by the rest.
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return running[a].rows < running[b].rows; });
  int64_t left = room;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto sharers = static_cast<int64_t>(order.size() - i);
    rows[order[i]] = std::min(running[order[i]].rows, (left + sharers - 1) / sharers);
    left -= rows[order[i]];
  }
}

}  // namespace

std::vector<size_t> choose_entrants(const SchedulerRules& rules,
                                    std::span<const WaitingStream> waiting, int64_t free_streams,
                                    int64_t free_pages) {
  std::vector<size_t> entrants;
  // Streams that may still enter past those that do not fit.
  int64_t passing = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (free_streams == 0 || passing <= 0) break;
    if (waiting[i].held) continue;
    if (waiting[i].pages > free_pages) {
      passing = std::min(passing, rules.overtakes - waiting[i].overtaken);
      continue;
    }
    entrants.push_back(i);
    --free_streams;
    free_pages -= waiting[i].pages;
    --passing;
  }
  return entrants;
}

std::vector<int64_t> choose_rows(const SchedulerRules& rules, const CostModel& costs,
                                 std::span<const RunningStream> running, double debt) {
  std::vector<int64_t> rows(running.size(), 0);
  const int64_t replies = give_to_replies(rules.rows, running, rows);
  give_to_prompts(rules, prompt_room(rules, costs, replies, debt), running, rows);
  return rows;
}

double next_debt(const SchedulerRules& rules, const CostModel& costs, double debt,
                 int64_t reply_rows, int64_t prompt_rows, double seconds) {
  if (reply_rows == 0) return 0.0;
  const double own = prompt_rows == 0 ? seconds : std::min(seconds, costs.estimate(reply_rows));
  const double allowed = own * (1.0 - rules.reply_share) / rules.reply_share;
  return std::max(0.0, debt + (seconds - own) - allowed);
}

std::optional<size_t> choose_victim(std::span<const uint64_t> arrivals) {
  if (arrivals.size() < 2) return std::nullopt;
  return static_cast<size_t>(std::max_element(arrivals.begin(), arrivals.end()) - arrivals.begin());
}

}  // namespace lockstep
