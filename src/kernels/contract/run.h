// Runs a problem through a schedule, and plants defects between the kernel and its check.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/contract/schedule.h"

namespace lockstep::contract {

// Spoils what one call gave, as a broken kernel would. `calls` counts the calls of this process.
struct Call {
  const CpuContext& context;
  const Problem& problem;
  std::span<const OutputSpec> specs;
  std::span<const Segment> segments;
  int64_t number = 0;
};
using Spoil = std::function<void(const Call& call, CallOutputs& outputs)>;

// Values of each output: [total rows, width] or [streams, width], streams one after another.
struct RunResult {
  std::vector<std::vector<float>> values;
  std::string error;  // a write outside or a missing one, with the call; else empty
};

// `spoil` may be empty.
RunResult run_problem(Problem& problem, const CpuContext& context, const Schedule& schedule,
                      int way, const Spoil& spoil);

// Empty if both have the same bits (NaN equals NaN) in every output; streams but `except` (-1:
// all).
std::string compare_runs(const Problem& problem, const RunResult& got, const RunResult& want,
                         int64_t except = -1);

}  // namespace lockstep::contract
