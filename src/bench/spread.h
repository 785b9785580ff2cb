// A median with its spread: what is said of every repeated measurement.
#pragma once

#include <span>

#include "base/json.h"

namespace lockstep::bench {

// Quartiles by linear interpolation between the sorted values; all zero without values.
struct Spread {
  double median = 0.0;
  double low = 0.0;   // first quartile
  double high = 0.0;  // third quartile
  size_t count = 0;
};

Spread spread_of(std::span<const double> values);

// {"median", "low", "high", "count"}
json::object to_json(const Spread& spread);

}  // namespace lockstep::bench
