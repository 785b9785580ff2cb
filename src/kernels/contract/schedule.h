// Groupings of the same rows into calls. All must give every row the same bits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/contract/problem.h"

namespace lockstep::contract {

struct Schedule {
  std::string name;  // "rows one by one"
  std::vector<std::vector<Segment>> calls;
};

// All rows of all streams in one call.
Schedule whole_schedule(const ProblemOptions& options);

// One by one; a row of every stream at a time; chunks of 2, 3 and 7; streams in reverse with
// changing counts. `few` leaves out the chunks.
std::vector<Schedule> other_schedules(const ProblemOptions& options, bool few);

}  // namespace lockstep::contract
