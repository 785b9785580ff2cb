#include "bench/spread.h"

#include <algorithm>
#include <vector>

namespace lockstep::bench {
namespace {

double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return {.median = quantile(sorted, 0.5),
          .low = quantile(sorted, 0.25),
          .high = quantile(sorted, 0.75),
          .count = sorted.size()};
}

json::object to_json(const Spread& spread) {
  return {{"median", spread.median},
          {"low", spread.low},
          {"high", spread.high},
          {"count", spread.count}};
}

}  // namespace lockstep::bench
