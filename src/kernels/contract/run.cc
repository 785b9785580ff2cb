#include "kernels/contract/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace lockstep::contract {
namespace {

// Streams' state and results over the calls of a run.
class Recorder {
 public:
  Recorder(Problem& problem, std::vector<OutputSpec> specs)
      : options_(problem.options()), specs_(std::move(specs)) {
    for (size_t o = 0; o < specs_.size(); ++o) {
      const OutputSpec& spec = specs_[o];
      const int64_t count = spec.per_stream ? options_.streams() : options_.total();
      result_.values.emplace_back(static_cast<size_t>(count * spec.width), 0.0f);
      if (!spec.per_stream) continue;
      for (int64_t s = 0; s < options_.streams(); ++s) {
        const std::span<const float> state = problem.initial(o, s);
        std::copy(state.begin(), state.end(), result_.values[o].begin() + s * spec.width);
      }
    }
  }

  void set_states(std::span<const Segment> segments, CallOutputs& outputs) const {
    for (size_t o = 0; o < specs_.size(); ++o) {
      if (!specs_[o].per_stream) continue;
      for (size_t i = 0; i < segments.size(); ++i) {
        outputs.set_before(o, i, result_.values[o].data() + segments[i].stream * specs_[o].width);
      }
    }
  }

  void take(std::span<const Segment> segments, CallOutputs& outputs) {
    for (size_t o = 0; o < specs_.size(); ++o) {
      const int64_t width = specs_[o].width;
      const float* from = outputs.data(o);
      for (const Segment& segment : segments) {
        const int64_t count = specs_[o].per_stream ? 1 : segment.rows();
        const int64_t at =
            specs_[o].per_stream ? segment.stream : options_.first(segment.stream) + segment.begin;
        std::copy_n(from, count * width, result_.values[o].begin() + at * width);
        from += count * width;
      }
    }
  }

  RunResult& result() { return result_; }

 private:
  const ProblemOptions& options_;
  std::vector<OutputSpec> specs_;
  RunResult result_;
};

std::string describe(const Segment& segment) {
  return fmt::format("rows {} to {} of stream {}", segment.begin, segment.end - 1, segment.stream);
}

}  // namespace

RunResult run_problem(Problem& problem, const CpuContext& context, const Schedule& schedule,
                      int way, const Spoil& spoil) {
  static int64_t calls = 0;
  const std::vector<OutputSpec> specs = problem.outputs();
  Recorder recorder(problem, specs);
  problem.begin();
  for (const std::vector<Segment>& segments : schedule.calls) {
    CallOutputs outputs(specs, segments);
    recorder.set_states(segments, outputs);
    problem.call(context, segments, way, outputs);
    if (spoil) spoil({context, problem, specs, segments, calls++}, outputs);
    std::string& error = recorder.result().error;
    if (const std::string wrong = outputs.check(); error.empty() && !wrong.empty()) {
      error = fmt::format("{} ({}, in a call from {})", wrong, schedule.name,
                          describe(segments.front()));
    }
    recorder.take(segments, outputs);
  }
  return std::move(recorder.result());
}

std::string compare_runs(const Problem& problem, const RunResult& got, const RunResult& want,
                         int64_t except) {
  const ProblemOptions& options = problem.options();
  const std::vector<OutputSpec> specs = problem.outputs();
  for (size_t o = 0; o < specs.size(); ++o) {
    const int64_t width = specs[o].width;
    for (int64_t s = 0; s < options.streams(); ++s) {
      if (s == except) continue;
      const int64_t first = specs[o].per_stream ? s : options.first(s);
      const int64_t count = specs[o].per_stream ? 1 : options.rows[static_cast<size_t>(s)];
      for (int64_t i = 0; i < count * width; ++i) {
        const auto at = static_cast<size_t>(first * width + i);
        const float x = got.values[o][at], y = want.values[o][at];
        if (std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y)) continue;
        if (std::isnan(x) && std::isnan(y)) continue;
        return fmt::format(
            "{}, stream {}, row {}, value {}: {:.9g} ({:#010x}) against {:.9g} "
            "({:#010x})",
            specs[o].name, s, i / width, i % width, x, std::bit_cast<uint32_t>(x), y,
            std::bit_cast<uint32_t>(y));
      }
    }
  }
  return "";
}

}  // namespace lockstep::contract
