// Seeded logits rows for the tests of this module.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace lockstep {

inline std::vector<float> normal_row(size_t size, double spread, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0.0, spread);
  std::vector<float> row(size);
  for (float& logit : row) logit = static_cast<float>(normal(engine));
  return row;
}

// Few distinct values, so that most tokens tie with others.
inline std::vector<float> tied_row(size_t size, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<float> row(size);
  for (float& logit : row) logit = static_cast<float>(engine() % 5) - 2.0f;
  return row;
}

}  // namespace lockstep
