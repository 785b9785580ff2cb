#include "verify/exact/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace lockstep::verify {
namespace {

// Follows the streams' positions while a schedule is written.
class Writer {
 public:
  Writer(std::string name, Lengths lengths)
      : schedule_{.name = std::move(name), .steps = {}, .poisoned = std::nullopt},
        left_(lengths.begin(), lengths.end()) {}

  int64_t left(size_t stream) const { return left_[stream]; }
  bool done() const {
    return std::all_of(left_.begin(), left_.end(), [](int64_t n) { return n == 0; });
  }

  // The next rows of a stream, as many as it has; nothing if it has none.
  void add(Round& round, size_t stream, int64_t rows) {
    rows = std::min(rows, left_[stream]);
    if (rows == 0) return;
    round.parts.push_back({.stream = stream, .rows = rows, .right = rows});
    left_[stream] -= rows;
  }

  // A window of which `right` rows are right, fewer where the stream ends.
  void add_window(Round& round, size_t stream, int64_t rows, int64_t right) {
    right = std::min(right, left_[stream]);
    if (right == 0) return;
    round.parts.push_back({.stream = stream, .rows = rows, .right = right});
    left_[stream] -= right;
  }

  void step(Round round) {
    if (!round.parts.empty()) schedule_.steps.emplace_back(std::move(round));
  }

  void read(size_t stream, int64_t rows, int64_t chunk) {
    for (rows = std::min(rows, left_[stream]); rows > 0; rows -= chunk) {
      Round round;
      add(round, stream, std::min(rows, chunk));
      step(std::move(round));
    }
  }

  void fork(Fork fork, int64_t position) {
    schedule_.steps.emplace_back(fork);
    left_[fork.to] -= position;
  }

  Schedule take() { return std::move(schedule_); }

 private:
  Schedule schedule_;
  std::vector<int64_t> left_;
};

}  // namespace

Schedule chunked(Lengths lengths, int64_t chunk) {
  Writer writer(fmt::format("chunks of {}", chunk), lengths);
  for (size_t stream = 0; stream < lengths.size(); ++stream) {
    writer.read(stream, lengths[stream], chunk);
  }
  return writer.take();
}

Schedule mixed(Lengths lengths, uint32_t seed) {
  Writer writer(fmt::format("{} stream{}", lengths.size(), lengths.size() == 1 ? "" : "s"),
                lengths);
  std::mt19937 random(seed);
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t number = 0; !writer.done(); ++number) {
    Round round;
    std::rotate(order.begin(), order.begin() + 1, order.end());
    for (const size_t stream : order) {
      if (number < 2 * stream || random() % 5 == 0) continue;
      writer.add(round, stream, random() % 2 == 0 ? 1 : 1 + random() % 17);
    }
    writer.step(std::move(round));
  }
  return writer.take();
}

Schedule reply_beside_prompt(Lengths lengths, int64_t chunk) {
  Writer writer(fmt::format("reply beside prompt chunks of {}", chunk), lengths);
  writer.read(0, lengths[0] / 2, chunk);
  for (size_t number = 0; !writer.done(); ++number) {
    Round round;
    const bool reply_first = number % 2 == 0;
    if (reply_first) writer.add(round, 0, 1);
    writer.add(round, 1, chunk);
    if (!reply_first) writer.add(round, 0, 1);
    writer.step(std::move(round));
  }
  return writer.take();
}

Schedule windows(Lengths lengths, int64_t prefix, int64_t window) {
  Writer writer(fmt::format("windows of {}", window), lengths);
  writer.read(0, prefix, prefix);
  for (size_t stream = 1; stream < 4; ++stream) writer.fork({.from = 0, .to = stream}, prefix);
  std::mt19937 random(static_cast<uint32_t>(window));
  while (writer.left(1) + writer.left(2) + writer.left(3) > 0) {
    Round round;
    writer.add_window(round, 1, std::min(window, writer.left(1)), window);
    writer.add_window(round, 2, window, 1);
    writer.add_window(round, 3, window, 1 + static_cast<int64_t>(random() % window));
    writer.step(std::move(round));
  }
  return writer.take();
}

Schedule resumed(Lengths lengths, int64_t split) {
  Writer writer(fmt::format("resumed at {}", split), lengths);
  writer.read(0, split, split);
  writer.fork({.from = 0, .to = 1}, split);
  writer.read(1, 3, 3);
  writer.read(0, lengths[0], 5);
  writer.read(1, lengths[1], 7);
  return writer.take();
}

Schedule resumed_inside(Lengths lengths, int64_t split) {
  Writer writer(fmt::format("resumed inside a chunk at {}", split), lengths);
  Round round;
  writer.add(round, 0, lengths[0]);
  round.parts.front().mark = split;
  writer.step(std::move(round));
  writer.fork({.from = 0, .to = 1, .at_mark = true}, split);
  writer.read(1, lengths[1], 7);
  return writer.take();
}

Schedule cancelled(Lengths lengths) {
  Writer writer("rounds given up", lengths);
  while (!writer.done()) {
    for (const bool own : {true, false}) {
      const int64_t rows = std::min<int64_t>(5, writer.left(0));
      writer.step({{{.stream = 0, .rows = rows, .right = own ? rows : 0, .commit = false}}});
    }
    writer.read(0, 3, 3);
  }
  return writer.take();
}

int64_t widest_round(const Schedule& schedule) {
  int64_t widest = 0;
  for (const auto& step : schedule.steps) {
    const auto* round = std::get_if<Round>(&step);
    if (round == nullptr) continue;
    int64_t rows = 0;
    for (const Part& part : round->parts) rows += part.rows;
    widest = std::max(widest, rows);
  }
  return widest;
}

}  // namespace lockstep::verify
