#include "verify/stages/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/stages.h"

namespace lockstep::verify {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows of two stages that belong to the same positions.
struct RowPair {
  int32_t position = 0;
  std::span<const float> a;
  std::span<const float> b;
};

bool has_suffix(std::string_view name, std::string_view stage) {
  return name == stage || (name.ends_with(stage) && name.size() > stage.size() &&
                           name[name.size() - stage.size() - 1] == '.');
}

bool is_logits(std::string_view name) {
  return name.ends_with("logits") && !name.ends_with("router_logits");
}

std::vector<RowPair> pair_rows(const StageDump& a, const StageRows& a_stage, const StageDump& b,
                               const StageRows& b_stage) {
  std::vector<RowPair> pairs;
  int64_t i = 0, j = 0;
  while (i < a_stage.rows() && j < b_stage.rows()) {
    const int32_t left = a.positions[static_cast<size_t>(i)];
    const int32_t right = b.positions[static_cast<size_t>(j)];
    if (left == right) pairs.push_back({left, a_stage.row(i), b_stage.row(j)});
    i += left <= right;
    j += right <= left;
  }
  return pairs;
}

// |a - b|^2 and |b|^2, of logits without the ids that either side masks.
struct Squares {
  double difference = 0.0;
  double norm = 0.0;

  void add(double a, double b) {
    difference += (a - b) * (a - b);
    norm += b * b;
  }
  double ratio(double smallest_norm = 0.0) const {
    if (difference == 0.0) return 0.0;
    const double error = std::sqrt(difference / std::max(norm, smallest_norm));
    return std::isnan(error) ? kInfinity : error;
  }
};

double row_error(const RowPair& pair, bool masked) {
  Squares sum;
  for (size_t i = 0; i < pair.a.size(); ++i) {
    if (masked && (pair.a[i] == -kInfinity || pair.b[i] == -kInfinity)) continue;
    sum.add(pair.a[i], pair.b[i]);
  }
  return sum.ratio();
}

double missing_ids(const RowPair& pair) {
  size_t missing = 0;
  for (const float id : pair.b) missing += std::count(pair.a.begin(), pair.a.end(), id) == 0;
  return static_cast<double>(missing) / static_cast<double>(pair.b.size());
}

void find_worst_column(const std::vector<RowPair>& pairs, StageError& error) {
  const size_t width = pairs.front().b.size();
  std::vector<Squares> columns(width);
  for (const RowPair& pair : pairs) {
    for (size_t i = 0; i < width; ++i) columns[i].add(pair.a[i], pair.b[i]);
  }
  double total = 0.0;
  for (const Squares& column : columns) total += column.norm;
  const double smallest = 1e-4 * total / static_cast<double>(width);
  for (size_t i = 0; i < width; ++i) {
    const double ratio = columns[i].ratio(smallest);
    if (error.worst_column >= 0 && !(ratio > error.worst_column_error)) continue;
    error.worst_column = static_cast<int64_t>(i);
    error.worst_column_error = ratio;
  }
}

StageError measure(const std::string& name, const std::vector<RowPair>& pairs) {
  StageError error = {.name = name, .rows = std::ssize(pairs)};
  const bool ids = has_suffix(name, stages::kExpertIds);
  std::vector<double> rows;
  for (const RowPair& pair : pairs) {
    const double ratio = ids ? missing_ids(pair) : row_error(pair, is_logits(name));
    if (rows.empty() || ratio > error.worst) {
      error.worst = ratio;
      error.worst_position = pair.position;
    }
    rows.push_back(ratio);
  }
  std::sort(rows.begin(), rows.end());
  error.median = rows[rows.size() / 2];
  if (!ids && !is_logits(name)) find_worst_column(pairs, error);
  return error;
}

LogitError measure_logits(const std::string& name, const std::vector<RowPair>& pairs) {
  LogitError error = {.name = name};
  for (const RowPair& pair : pairs) {
    error.choices.push_back({pair.position, top_two(pair.a), top_two(pair.b)});
    for (size_t i = 0; i < pair.a.size(); ++i) {
      if (pair.a[i] == -kInfinity || pair.b[i] == -kInfinity) continue;
      const double difference = std::abs(double{pair.a[i]} - pair.b[i]);
      error.worst = std::max(error.worst, std::isnan(difference) ? kInfinity : difference);
    }
  }
  return error;
}

Status check_comparable(const StageDump& a, const StageDump& b) {
  LOCKSTEP_RETURN_IF_ERROR(check_same_weights(a, "the first", b.identity.weights, "the second"));
  if (a.ids != b.ids) {
    const auto parted = std::mismatch(a.ids.begin(), a.ids.end(), b.ids.begin(), b.ids.end());
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("the two are of different sequences: {} and {} ids, which part at "
                             "position {}",
                             a.ids.size(), b.ids.size(), parted.first - a.ids.begin())};
  }
  return {};
}

}  // namespace

double bf16_step(double x) { return x == 0.0 ? 0.0 : std::ldexp(1.0, std::ilogb(x) - 7); }

TopTwo top_two(std::span<const float> logits) {
  TopTwo top = {.first = -1, .second = -1};
  const auto above = [&](size_t i, int32_t other) {
    return other < 0 || logits[i] > logits[static_cast<size_t>(other)];
  };
  for (size_t i = 0; i < logits.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (above(i, top.first)) {
      top.second = top.first;
      top.first = id;
    } else if (above(i, top.second)) {
      top.second = id;
    }
  }
  top.logit = logits[static_cast<size_t>(top.first)];
  if (top.second >= 0) top.margin = top.logit - logits[static_cast<size_t>(top.second)];
  return top;
}

bool Choice::near_tie() const {
  const bool same =
      (a.first == b.first && a.second == b.second) || (a.first == b.second && a.second == b.first);
  return same && a.margin < bf16_step(a.logit) && b.margin < bf16_step(b.logit);
}

const StageError* Comparison::find(std::string_view name) const {
  const auto found = std::find_if(stages.begin(), stages.end(),
                                  [&](const StageError& stage) { return stage.name == name; });
  return found == stages.end() ? nullptr : &*found;
}

const LogitError* Comparison::find_logits(std::string_view name) const {
  const auto found = std::find_if(logits.begin(), logits.end(),
                                  [&](const LogitError& each) { return each.name == name; });
  return found == logits.end() ? nullptr : &*found;
}

std::vector<const StageError*> Comparison::layers() const {
  std::vector<const StageError*> found;
  for (int64_t i = 0;; ++i) {
    const StageError* layer = find(stage_key(stages::kLayer, i, i + 1));
    if (layer == nullptr) return found;
    found.push_back(layer);
  }
}

int64_t LogitError::agreeing() const {
  return std::count_if(choices.begin(), choices.end(), [](const Choice& c) { return c.agree(); });
}

int64_t LogitError::near_ties() const {
  return std::count_if(choices.begin(), choices.end(),
                       [](const Choice& c) { return !c.agree() && c.near_tie(); });
}

Result<Comparison> compare_dumps(const StageDump& a, const StageDump& b) {
  LOCKSTEP_RETURN_IF_ERROR(check_comparable(a, b));
  Comparison comparison;
  for (const StageRows& b_stage : b.stages) {
    const StageRows* a_stage = a.find(b_stage.name);
    if (a_stage == nullptr) {
      comparison.only_b.push_back(b_stage.name);
      continue;
    }
    if (a_stage->width != b_stage.width) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("stage {} has rows of {} and {} values", b_stage.name,
                               a_stage->width, b_stage.width)};
    }
    const std::vector<RowPair> pairs = pair_rows(a, *a_stage, b, b_stage);
    if (pairs.empty()) continue;
    comparison.positions = std::max(comparison.positions, std::ssize(pairs));
    comparison.stages.push_back(measure(b_stage.name, pairs));
    if (is_logits(b_stage.name)) {
      comparison.logits.push_back(measure_logits(b_stage.name, pairs));
    }
  }
  for (const StageRows& stage : a.stages) {
    if (b.find(stage.name) == nullptr) comparison.only_a.push_back(stage.name);
  }
  if (comparison.stages.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "the two have no stage at a common position: there is nothing to compare"};
  }
  return comparison;
}

}  // namespace lockstep::verify
