// The accuracy table of docs/numerics.md, and the verdict on a comparison with float64.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "verify/report.h"
#include "verify/stages/compare.h"

namespace lockstep::verify {

// Errors of the residual stream after a layer: relative 2-norm, a median over tokens unless it says
// otherwise. Absent: the table says nothing.
struct AccuracyGoal {
  std::string_view setting;
  double stage_median = 0.0;          // own input, median over stages
  double worst_stage = 0.0;           // own input
  std::optional<double> worst_token;  // own input, of all stages
  double chained_last = 0.0;          // from the ids, after the last layer
  std::optional<double> logits;       // from the ids, absolute
};

// The row of a precision tuple; null: none applies.
const AccuracyGoal* find_goal(std::string_view precision_tuple);

// A clause each: `found` is at most `goal`, and by how much it is missed; every choice agrees or is
// a near tie.
void hold_to_goal(Report& report, std::string name, double found, double goal,
                  const std::string& where);
void judge_choices(const LogitError& logits, Report& report);

// Adds what can be held to `report`. Against the float64 pass of a precision with a goal: the
// goal. Otherwise: every choice agrees or is a near tie. Always: every value is finite.
void judge(const Comparison& comparison, const DumpIdentity& a, const DumpIdentity& b,
           Report& report);

}  // namespace lockstep::verify
