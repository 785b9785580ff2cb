#include "kernels/contract/schedule.h"

#include <algorithm>

namespace lockstep::contract {
namespace {

Schedule chunks(const ProblemOptions& options, int64_t step) {
  Schedule schedule{.name = step == 1 ? "rows one by one" : "chunks of " + std::to_string(step),
                    .calls = {}};
  for (int64_t stream = 0; stream < options.streams(); ++stream) {
    const int64_t rows = options.rows[static_cast<size_t>(stream)];
    for (int64_t begin = 0; begin < rows; begin += step) {
      schedule.calls.push_back({{stream, begin, std::min(rows, begin + step)}});
    }
  }
  return schedule;
}

// Every call takes rows of every stream that has some left, count(call, stream) of it at the most.
template <typename Count>
Schedule side_by_side(const ProblemOptions& options, std::string name, bool reverse,
                      const Count& count) {
  Schedule schedule{.name = std::move(name), .calls = {}};
  std::vector<int64_t> next(options.rows.size(), 0);
  for (int64_t call = 0;; ++call) {
    std::vector<Segment> segments;
    for (int64_t i = 0; i < options.streams(); ++i) {
      const int64_t stream = reverse ? options.streams() - 1 - i : i;
      int64_t& begin = next[static_cast<size_t>(stream)];
      const int64_t rows = options.rows[static_cast<size_t>(stream)];
      const int64_t end = std::min(rows, begin + count(call, stream));
      if (end > begin) segments.push_back({stream, begin, end});
      begin = end;
    }
    if (segments.empty()) return schedule;
    schedule.calls.push_back(std::move(segments));
  }
}

}  // namespace

Schedule whole_schedule(const ProblemOptions& options) {
  Schedule schedule{.name = "all rows in one call", .calls = {{}}};
  for (int64_t stream = 0; stream < options.streams(); ++stream) {
    schedule.calls[0].push_back({stream, 0, options.rows[static_cast<size_t>(stream)]});
  }
  return schedule;
}

std::vector<Schedule> other_schedules(const ProblemOptions& options, bool few) {
  std::vector<Schedule> schedules;
  schedules.push_back(chunks(options, 1));
  schedules.push_back(side_by_side(options, "one row of every stream at a time", false,
                                   [](int64_t, int64_t) { return 1; }));
  schedules.push_back(
      side_by_side(options, "streams in reverse, changing counts", true,
                   [](int64_t call, int64_t stream) { return 1 + (3 * call + stream) % 5; }));
  if (few) return schedules;
  for (int64_t step : {2, 3, 7}) schedules.push_back(chunks(options, step));
  return schedules;
}

}  // namespace lockstep::contract
