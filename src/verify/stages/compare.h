// Two dumps of one sequence side by side. B is the reference: errors are relative to its values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "verify/stages/dump.h"

namespace lockstep::verify {

struct StageError {
  std::string name;
  int64_t rows = 0;
  // Over rows: |a - b| / |b| in the 2-norm; of expert_ids the part of b's ids that a has not.
  // Infinite where a value is NaN, or infinite on one side.
  double median = 0.0;
  double worst = 0.0;
  int32_t worst_position = 0;
  // Over columns: the same ratio down a column, whose norm counts as at least a hundredth of the
  // root mean square of all columns' norms. Not of logits and ids.
  double worst_column_error = 0.0;
  int64_t worst_column = -1;
};

// The two likeliest ids of a row, ties to the lower id, and the distance of their logits.
struct TopTwo {
  int32_t first = 0;
  int32_t second = 0;
  double logit = 0.0;
  double margin = 0.0;
};

struct Choice {
  int32_t position = 0;
  TopTwo a;
  TopTwo b;
  bool agree() const { return a.first == b.first; }
  // Both have the same two contenders, and both margins are under one bf16 step of the logit.
  bool near_tie() const;
};

// Of a stage of logits: the trunk's, or a draft head's.
struct LogitError {
  std::string name;
  double worst = 0.0;  // largest absolute difference of two values that neither side masks
  std::vector<Choice> choices = {};  // a row each

  int64_t agreeing() const;
  int64_t near_ties() const;  // among those that do not agree
};

struct Comparison {
  std::vector<StageError> stages;  // in the order of b
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
  std::vector<LogitError> logits;  // of every stage that ends so
  int64_t positions = 0;           // that both keep

  const StageError* find(std::string_view name) const;
  const LogitError* find_logits(std::string_view name) const;
  // "layers.N.layer", ascending by layer.
  std::vector<const StageError*> layers() const;
};

// Distance of two neighbouring bf16 values of the size of x.
double bf16_step(double x);
TopTwo top_two(std::span<const float> logits);

// Errors: other weights, other ids, no position or no stage in common, stages of other widths.
Result<Comparison> compare_dumps(const StageDump& a, const StageDump& b);

}  // namespace lockstep::verify
