#include "kernels/contract/gates.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/contract/contexts.h"

namespace lockstep::contract {
namespace {

struct Subject {
  const OpContract& contract;
  const ShapeClass& shape;
  Effort effort;
  const Defect* defect;

  std::unique_ptr<Problem> make(Inputs inputs) const {
    return contract.make(shape, {.inputs = inputs, .rows = effort.rows});
  }
  RunResult run(Problem& problem, const CpuContext& context, const Schedule& schedule,
                int way = 0) const {
    return run_problem(problem, context, schedule, way,
                       defect == nullptr ? Spoil() : defect->spoil);
  }
  RunResult whole(Problem& problem) const {
    return run(problem, default_context(), whole_schedule(problem.options()));
  }
};

GateResult failed(std::string why) { return {.failure = std::move(why)}; }

struct Distance {
  double worst = 0.0;  // of the bound
  int64_t non_finite = 0;
  std::string failure;
};

// |got - want| as a share of the bound. NaN must meet NaN and an infinity the same one.
double share_of_bound(double got, const Expected::Value& value) {
  const double want = value.want;
  if (std::isnan(want)) return std::isnan(got) ? 0.0 : std::numeric_limits<double>::infinity();
  if (std::isinf(got) && got == static_cast<double>(static_cast<float>(want))) return 0.0;
  const double error = std::fabs(got - want);
  if (error == 0.0) return 0.0;
  const double share = error / value.bound;
  return std::isnan(share) ? std::numeric_limits<double>::infinity() : share;
}

Distance distance(const Problem& problem, const RunResult& run, const Expected& expected) {
  Distance distance;
  const std::vector<OutputSpec> specs = problem.outputs();
  for (const Expected::Value& value : expected.values) {
    const float got = run.values[value.output][static_cast<size_t>(value.index)];
    const double share = share_of_bound(got, value);
    if (!std::isfinite(value.want)) ++distance.non_finite;
    distance.worst = std::max(distance.worst, share);
    if (share <= 1.0 || !distance.failure.empty()) continue;
    const int64_t width = specs[value.output].width;
    distance.failure =
        fmt::format("{}, row {}, value {}: got {:.9g}, float64 says {:.17g}, allowed {:.3g}",
                    specs[value.output].name, value.index / width, value.index % width, got,
                    value.want, value.bound);
  }
  return distance;
}

GateResult check_non_finite(const Subject& subject) {
  const auto problem = subject.make(Inputs::kNonFinite);
  const RunResult run = subject.whole(*problem);
  if (!run.error.empty()) return failed(run.error);
  const Distance found = distance(*problem, run, problem->reference(subject.effort.values));
  if (!found.failure.empty()) return failed(found.failure);
  if (found.non_finite == 0) return failed("no output was NaN or infinite: nothing was checked");
  return {.passed = true, .figure = fmt::format("{} non-finite values", found.non_finite)};
}

bool all_nan_somewhere(const Problem& problem, const RunResult& run, int64_t stream) {
  const std::vector<OutputSpec> specs = problem.outputs();
  for (size_t o = 0; o < specs.size(); ++o) {
    if (specs[o].per_stream) continue;
    const int64_t first = problem.options().first(stream) * specs[o].width;
    const int64_t end =
        first + problem.options().rows[static_cast<size_t>(stream)] * specs[o].width;
    for (int64_t i = first; i < end; ++i) {
      if (std::isnan(run.values[o][static_cast<size_t>(i)])) return true;
    }
  }
  return false;
}

GateResult check_rows(const Subject& subject) {
  const auto problem = subject.make(Inputs::kPlain);
  const RunResult want = subject.whole(*problem);
  if (!want.error.empty()) return failed(want.error);
  const std::vector<Schedule> schedules = other_schedules(problem->options(), subject.effort.few);
  for (const Schedule& schedule : schedules) {
    const RunResult got = subject.run(*problem, default_context(), schedule);
    if (!got.error.empty()) return failed(got.error);
    const std::string difference = compare_runs(*problem, got, want);
    if (!difference.empty()) return failed(schedule.name + ": " + difference);
  }
  const auto spoilt = subject.make(Inputs::kSpoilt);
  for (const Schedule& schedule : {whole_schedule(problem->options()), schedules[1]}) {
    const RunResult got = subject.run(*spoilt, default_context(), schedule);
    const std::string difference = compare_runs(*problem, got, want, kSpoiltStream);
    if (!difference.empty()) return failed("beside NaN rows, " + schedule.name + ": " + difference);
    if (!all_nan_somewhere(*problem, got, kSpoiltStream)) {
      return failed("the NaN rows came out as numbers: nothing was checked");
    }
  }
  return {.passed = true,
          .figure = fmt::format("{} rows in {} groupings", problem->options().total(),
                                schedules.size() + 3)};
}

// Every instruction set with 1, 2, 3 and 7 threads, or a few of these.
std::vector<std::pair<Isa, int>> contexts(bool few) {
  std::vector<std::pair<Isa, int>> all;
  for (const Isa isa : available_isas()) {
    for (const int threads : {1, 2, 3, 7}) {
      const bool best = isa == best_isa();
      if (!few || (best && threads != 7) || threads == 2) all.emplace_back(isa, threads);
    }
  }
  return all;
}

GateResult check_repeat(const Subject& subject) {
  const auto problem = subject.make(Inputs::kPlain);
  const RunResult want = subject.whole(*problem);
  if (!want.error.empty()) return failed(want.error);
  const Schedule whole = whole_schedule(problem->options());
  const Schedule single = other_schedules(problem->options(), true).front();
  int64_t runs = 1;
  std::string wrong;
  const auto hold = [&](const CpuContext& context, const Schedule& schedule, int way,
                        const std::string& name) {
    if (!wrong.empty()) return;
    const RunResult got = subject.run(*problem, context, schedule, way);
    ++runs;
    wrong = got.error.empty() ? compare_runs(*problem, got, want) : got.error;
    if (!wrong.empty()) wrong = fmt::format("{}, {}: {}", name, schedule.name, wrong);
  };
  hold(default_context(), whole, 0, "repeated");
  hold(default_context(), whole, 0, "repeated again");
  for (const auto& [isa, threads] : contexts(subject.effort.few)) {
    const CpuContext context = context_of(isa, threads);
    const std::string name = fmt::format("{}, {} threads", to_string(isa), threads);
    for (int way = 0; way < problem->ways(); ++way) hold(context, whole, way, name);
    if (threads == 2) hold(context, single, 0, name);
  }
  if (!wrong.empty()) return failed(wrong);
  return {.passed = true, .figure = fmt::format("{} runs alike", runs)};
}

// The largest miss of the twin, as multiples of the bound.
double twin_miss(const Problem& problem, Narrow type, const Expected& expected) {
  const std::vector<double> twin = problem.twin(type, expected);
  double worst = 0.0;
  for (size_t i = 0; i < twin.size(); ++i) {
    worst = std::max(worst, share_of_bound(twin[i], expected.values[i]));
  }
  return worst;
}

GateResult check_precision(const Subject& subject) {
  GateResult result;
  for (const Inputs inputs : {Inputs::kPlain, Inputs::kStress}) {
    const auto problem = subject.make(inputs);
    const RunResult run = subject.whole(*problem);
    if (!run.error.empty()) return failed(run.error);
    const Expected expected = problem->reference(subject.effort.values);
    const Distance found = distance(*problem, run, expected);
    result.worst = std::max(result.worst, found.worst);
    if (!found.failure.empty()) {
      result.failure = (inputs == Inputs::kStress ? "stress inputs: " : "") + found.failure;
      return result;
    }
    if (inputs != Inputs::kStress) continue;
    const double bf16 = twin_miss(*problem, Narrow::kBf16, expected);
    const double f16 = twin_miss(*problem, Narrow::kF16, expected);
    result.figure = fmt::format(
        "{:.2g} of the bound; a twin that {} misses it {:.3g}-fold (bf16), {:.3g}-fold (float16)",
        result.worst, subject.contract.twin, bf16, f16);
    const std::string_view alike =
        subject.contract.alike == nullptr ? "" : subject.contract.alike(subject.shape);
    if (!alike.empty()) {
      result.figure = fmt::format("{:.2g} of the bound; not separable: {}", result.worst, alike);
    } else if (std::min(bf16, f16) < kTwinMiss) {
      result.failure = "the bound does not tell narrow sums apart: " + result.figure;
      return result;
    }
  }
  result.passed = true;
  return result;
}

GateResult check_limits(const Subject& subject) {
  const bool row_missing = subject.defect != nullptr && subject.defect->row_missing;
  const bool limit_broken = subject.defect != nullptr && subject.defect->limit_broken;
  std::vector<KernelInfo> kernels = subject.contract.kernels();
  if (row_missing) kernels.pop_back();
  std::vector<std::string> run, idle;
  for (const Isa isa : built_isas()) {
    const auto count = std::count_if(kernels.begin(), kernels.end(),
                                     [&](const KernelInfo& kernel) { return kernel.isa == isa; });
    const auto scalar =
        std::count_if(kernels.begin(), kernels.end(),
                      [&](const KernelInfo& kernel) { return kernel.isa == Isa::kScalar; });
    if (count == 0 || count != scalar) {
      return failed(fmt::format("{} kernels are registered for {} and {} for scalar", count,
                                to_string(isa), scalar));
    }
    if (isa_available(isa)) {
      run.push_back(to_string(isa));
    } else {
      idle.push_back(fmt::format("{} (needs {})", to_string(isa), required_features(isa)));
    }
  }
  std::vector<Limit> limits = subject.contract.limits(subject.shape);
  if (limit_broken) limits.push_back({.what = "planted", .value = 1, .at_most = 0});
  for (const Limit& limit : limits) {
    if (limit.holds()) continue;
    return failed(
        limit.multiple_of > 1 && limit.value <= limit.at_most
            ? fmt::format("{} is {}, which is no multiple of {}", limit.what, limit.value,
                          limit.multiple_of)
            : fmt::format("{} is {}, at most {} fit", limit.what, limit.value, limit.at_most));
  }
  return {
      .passed = true,
      .figure = fmt::format(
          "{} limits; runs {}{}", limits.size(), fmt::join(run, ", "),
          idle.empty() ? "" : fmt::format("; not on this processor: {}", fmt::join(idle, ", ")))};
}

}  // namespace

const char* to_string(Gate gate) {
  switch (gate) {
    case Gate::kNonFinite:
      return "G1";
    case Gate::kRows:
      return "G2";
    case Gate::kRepeat:
      return "G3";
    case Gate::kPrecision:
      return "G4";
    case Gate::kLimits:
      return "G5";
  }
  return "?";
}

Effort effort_for(int64_t work) {
  if (work <= 1 << 16) return {.rows = {1, 18, 5, 3, 41}, .values = 1 << 14};
  if (work <= 1 << 20) return {.rows = {1, 5, 2, 3, 7}, .values = 1 << 12};
  if (work <= 1 << 24) return {.rows = {1, 2, 1, 3}, .values = 256, .few = true};
  return {.rows = {1, 2, 1, 1}, .values = 256, .few = true};
}

GateResult run_gate(Gate gate, const OpContract& contract, const ShapeClass& shape,
                    const Defect* defect) {
  const Subject subject{contract, shape, effort_for(contract.work(shape)), defect};
  switch (gate) {
    case Gate::kNonFinite:
      return check_non_finite(subject);
    case Gate::kRows:
      return check_rows(subject);
    case Gate::kRepeat:
      return check_repeat(subject);
    case Gate::kPrecision:
      return check_precision(subject);
    case Gate::kLimits:
      return check_limits(subject);
  }
  return {};
}

}  // namespace lockstep::contract
