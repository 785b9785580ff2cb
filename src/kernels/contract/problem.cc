#include "kernels/contract/problem.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/float16.h"

namespace lockstep::contract {

int64_t ProblemOptions::total() const {
  return std::accumulate(rows.begin(), rows.end(), int64_t{0});
}

int64_t ProblemOptions::first(int64_t stream) const {
  return std::accumulate(rows.begin(), rows.begin() + stream, int64_t{0});
}

int64_t rows_of(std::span<const Segment> segments) {
  int64_t rows = 0;
  for (const Segment& segment : segments) rows += segment.rows();
  return rows;
}

CallOutputs::CallOutputs(std::span<const OutputSpec> specs, std::span<const Segment> segments) {
  for (const OutputSpec& spec : specs) {
    names_.push_back(spec.name);
    const int64_t count =
        spec.per_stream ? static_cast<int64_t>(segments.size()) : rows_of(segments);
    guarded_.emplace_back(count * spec.width);
    before_.emplace_back(segments.size(), nullptr);
  }
}

std::string CallOutputs::check() const {
  if (!error_.empty()) return error_;
  for (size_t i = 0; i < guarded_.size(); ++i) {
    if (std::string wrong = guarded_[i].check(); !wrong.empty()) return names_[i] + ": " + wrong;
  }
  return "";
}

void Expected::add(size_t output, std::span<const double> want, std::span<const double> bound) {
  LOCKSTEP_CHECK(want.size() == bound.size(), "a bound for each value");
  for (size_t i = 0; i < want.size(); ++i) {
    values.push_back({output, static_cast<int64_t>(i), want[i], bound[i]});
  }
}

void Expected::add_exact(size_t output, std::span<const double> want) {
  for (size_t i = 0; i < want.size(); ++i) {
    values.push_back({output, static_cast<int64_t>(i), static_cast<float>(want[i]), 0.0});
  }
}

float narrowed(Narrow type, double value) {
  const auto rounded = static_cast<float>(value);
  return type == Narrow::kBf16 ? bf16_to_float(float_to_bf16(rounded))
                               : f16_to_float(float_to_f16(rounded));
}

std::vector<double> Problem::twin(Narrow type, const Expected& expected) const {
  std::vector<double> values;
  for (const Expected::Value& value : expected.values) {
    values.push_back(narrowed(type, value.want));
  }
  return values;
}

void Problem::disturb(std::vector<float>& x, int64_t width) const {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (width == 0) return;
  if (options_.inputs == Inputs::kSpoilt && options_.streams() > kSpoiltStream) {
    const int64_t first = options_.first(kSpoiltStream);
    std::fill_n(x.begin() + first * width, options_.rows[kSpoiltStream] * width, kNan);
  }
  if (options_.inputs != Inputs::kNonFinite) return;
  Random random(options_.seed + 77);
  constexpr float kValues[] = {kNan, kInfinity, -kInfinity};
  for (int64_t row = 0; row < options_.total(); ++row) {
    if (row % 4 == 3) continue;
    x[static_cast<size_t>(row * width + random.below(width))] = kValues[row % 4];
  }
}

std::vector<float> rows_of_all_sizes(int64_t rows, int64_t width, uint64_t seed) {
  constexpr double kSizes[] = {1.0, 1e-18, 1e-3, 1e4, 1e15};
  Random random(seed);
  std::vector<float> values;
  for (int64_t i = 0; i < rows * width; ++i) {
    values.push_back(static_cast<float>(kSizes[i / width % 5] * random.normal()));
  }
  return values;
}

std::vector<float> like_terms(int64_t rows, int64_t width, uint64_t seed) {
  Random random(seed);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(rows * width));
  for (int64_t row = 0; row < rows; ++row) {
    const auto value = static_cast<float>(random.uniform(1.0, 1.2));
    values.insert(values.end(), static_cast<size_t>(width), value);
  }
  return values;
}

}  // namespace lockstep::contract
