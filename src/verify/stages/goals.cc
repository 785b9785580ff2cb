#include "verify/stages/goals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/stages.h"

namespace lockstep::verify {
namespace {

constexpr AccuracyGoal kGoals[] = {
    {.setting = "precision=full",
     .stage_median = 1e-6,
     .worst_stage = 2e-6,
     .worst_token = 2e-5,
     .chained_last = 5e-6,
     .logits = 1e-4},
    {.setting = "precision=int8",
     .stage_median = 0.0045,
     .worst_stage = 0.0095,
     .worst_token = std::nullopt,
     .chained_last = 0.014,
     .logits = std::nullopt},
};

}  // namespace

void judge_choices(const LogitError& logits, Report& report) {
  const int64_t count = std::ssize(logits.choices);
  const int64_t agreeing = logits.agreeing(), near = logits.near_ties();
  std::string detail;
  for (const Choice& choice : logits.choices) {
    if (choice.agree() || choice.near_tie()) continue;
    detail += fmt::format("{}position {}: {} by {:.4g} against {} by {:.4g}",
                          detail.empty() ? "" : "\n", choice.position, choice.a.first,
                          choice.a.margin, choice.b.first, choice.b.margin);
  }
  report.add(fmt::format("{}: choices agree or are near ties", logits.name),
             agreeing + near == count,
             fmt::format("{} of {} agree, {} near ties", agreeing, count, near), detail);
}

void hold_to_goal(Report& report, std::string name, double found, double goal,
                  const std::string& where) {
  report.add(std::move(name), found <= goal,
             fmt::format("{:.3g}, goal {:.3g}{}", found, goal, where),
             fmt::format("missed by {:.3g}, {:.1f} % of the goal", found - goal,
                         100.0 * (found - goal) / goal));
}

namespace {

void judge_own(const Comparison& comparison, const AccuracyGoal& goal, Report& report) {
  std::vector<double> medians;
  const StageError* worst_stage = nullptr;
  const StageError* worst_token = nullptr;
  for (const StageError* layer : comparison.layers()) {
    medians.push_back(layer->median);
    if (worst_stage == nullptr || layer->median > worst_stage->median) worst_stage = layer;
    if (worst_token == nullptr || layer->worst > worst_token->worst) worst_token = layer;
  }
  if (medians.empty()) return;
  std::sort(medians.begin(), medians.end());
  hold_to_goal(report, "own input, median over stages", medians[medians.size() / 2],
               goal.stage_median, "");
  hold_to_goal(report, "own input, worst stage", worst_stage->median, goal.worst_stage,
               ", " + worst_stage->name);
  if (goal.worst_token) {
    hold_to_goal(
        report, "own input, worst token", worst_token->worst, *goal.worst_token,
        fmt::format(", {} at position {}", worst_token->name, worst_token->worst_position));
  }
}

void judge_chained(const Comparison& comparison, const AccuracyGoal& goal, Report& report) {
  const auto layers = comparison.layers();
  if (!layers.empty()) {
    hold_to_goal(report, "chained, last stage", layers.back()->median, goal.chained_last, "");
  }
  if (!goal.logits) return;
  if (const LogitError* logits = comparison.find_logits(stages::kLogits)) {
    hold_to_goal(report, "chained, logits", logits->worst, *goal.logits, "");
    judge_choices(*logits, report);
  }
}

void judge_finite(const Comparison& comparison, Report& report) {
  std::string detail;
  for (const StageError& stage : comparison.stages) {
    if (std::isfinite(stage.worst)) continue;
    detail += fmt::format("{}{} at position {}", detail.empty() ? "" : "\n", stage.name,
                          stage.worst_position);
  }
  report.add("every value is finite", detail.empty(),
             fmt::format("{} stages, {} positions", comparison.stages.size(), comparison.positions),
             detail);
}

}  // namespace

const AccuracyGoal* find_goal(std::string_view precision_tuple) {
  if (precision_tuple.find("backend=cpu") == std::string_view::npos) return nullptr;
  for (const AccuracyGoal& goal : kGoals) {
    if (precision_tuple.find(goal.setting) != std::string_view::npos) return &goal;
  }
  return nullptr;
}

void judge(const Comparison& comparison, const DumpIdentity& a, const DumpIdentity& b,
           Report& report) {
  judge_finite(comparison, report);
  const AccuracyGoal* goal = find_goal(a.precision);
  if (goal != nullptr && b.source == "float64-own") {
    judge_own(comparison, *goal, report);
  } else if (goal != nullptr && b.source == "float64-chained") {
    judge_chained(comparison, *goal, report);
  } else if (const LogitError* logits = comparison.find_logits(stages::kLogits)) {
    judge_choices(*logits, report);
  }
}

}  // namespace lockstep::verify
