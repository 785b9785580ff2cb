// Slots (row, choice) grouped by expert, for the grouped products: integers only, without atomics,
// so the same on every run.
#pragma once

#include "base/result.h"
#include "kernels/linear/cuda_linear.h"

namespace lockstep::cuda {

// Device arrays. A position is a slot's place in the order by (expert, slot).
struct SlotGroups {
  int* row_list = nullptr;     // [slots] row of each position
  int* position_of = nullptr;  // [slots] position of each slot
  RowRun* runs = nullptr;      // [most_runs] positions of one expert, at most run_rows each
  int* run_count = nullptr;
  int* counts = nullptr;  // [experts] scratch
};

constexpr int most_runs(int slots, int experts, int run_rows) {
  const int parts = experts + slots / run_rows;
  return parts < slots ? parts : slots;
}

// ids [slots], slot = row * chosen + choice; at most 1024 experts.
Status group_slots(const int* ids, int slots, int chosen, int experts, int run_rows,
                   const SlotGroups& groups, bool overlap, Stream stream);

}  // namespace lockstep::cuda
