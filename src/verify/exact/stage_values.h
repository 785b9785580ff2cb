// What one row gave at every stage, and where two ways to compute it part.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::verify {

struct StageValues {
  std::string stage;  // as model/stages.h names and counts them
  int64_t layer = 0;
  std::vector<float> values;
};

// "layer 3, attention, column 5: 0.25 (0x3e800000), want 0.5 (0x3f000000)" of the first stage and
// column whose bits differ; empty if none does.
std::string first_difference(std::span<const StageValues> got, std::span<const StageValues> want);

}  // namespace lockstep::verify
