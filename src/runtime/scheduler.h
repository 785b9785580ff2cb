// Who enters and who runs: pure functions of what is waiting, what is running and what rounds cost.
// They see no model, no clock and no ids, so that recorded traces test them. No bit depends on them
// (docs/numerics.md): they decide only when a reply comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/cost_model.h"

namespace lockstep {

struct SchedulerRules {
  int64_t rows = 128;  // of a round, at the most
  // Of the time that running replies keep while prompts are read; (0, 1].
  double reply_share = 0.5;
  // Seconds after which a round that reads prompts should be over, so that who leaves or comes is
  // heard; but at least the cost of kLeastRounds rounds of one row.
  double round_seconds = 0.5;
  int64_t piece = 16;  // rows of a prompt that are worth a place in a round
  // Streams that may enter past one that does not fit before it is waited for.
  int64_t overtakes = 16;
};

inline constexpr double kLeastRounds = 3.0;

struct WaitingStream {
  int64_t pages = 0;      // of keys and values that it needs to begin its reply
  bool held = false;      // waits for something else than room: its prompt is being read by another
  int64_t overtaken = 0;  // streams that have entered past it
};

// Which of the waiting streams (oldest first) enter, in order. One that does not fit lets later
// ones that do pass, `overtakes` of them; then nobody enters until it fits.
std::vector<size_t> choose_entrants(const SchedulerRules& rules,
                                    std::span<const WaitingStream> waiting, int64_t free_streams,
                                    int64_t free_pages);

struct RunningStream {
  int64_t rows = 1;          // that it could run now: the rest of a prompt, or a reply's window
  bool reading = false;      // a prompt
  uint64_t last_served = 0;  // its last turn, counted over all streams; 0: it had none
};

// Rows of each stream in the next round; 0: none.
//
// Replies come first, the least recently served first, each with its window (cut to one row before
// another is left out). Prompts then share what the costs leave, in equal parts, what one does not
// need going to the others; with less than a piece for each, the least recently served share it.
// `debt` is the time that prompts have had beyond their share: until it is paid back by rounds of
// replies alone, they get nothing.
std::vector<int64_t> choose_rows(const SchedulerRules& rules, const CostModel& costs,
                                 std::span<const RunningStream> running, double debt);

// The debt after a round of these rows that took `seconds`.
double next_debt(const SchedulerRules& rules, const CostModel& costs, double debt,
                 int64_t reply_rows, int64_t prompt_rows, double seconds);

// Whose pages are taken when a round lacks some: the youngest, given ages that count up with
// arrival; nothing if there is only one, which the plan has room for.
std::optional<size_t> choose_victim(std::span<const uint64_t> arrivals);

}  // namespace lockstep
