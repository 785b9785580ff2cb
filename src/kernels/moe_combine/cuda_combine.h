// The experts' outputs of a row in slot order (docs/numerics.md, rule 17):
//   acc = fma(weight_j, down_j, acc), j ascending from +0
// The shared expert may be the last slot, with the sigmoid of its gate as weight.
#pragma once

#include "base/result.h"
#include "kernels/linear/cuda_linear.h"

namespace lockstep::cuda {

struct CombineArgs {
  const float* down = nullptr;       // [slots, n], by position
  const int* position_of = nullptr;  // [rows, chosen]
  const float* weights = nullptr;    // [rows, chosen]
  int rows = 0;
  int chosen = 0;
  int n = 0;  // a multiple of 4
  float* y = nullptr;
  bool overlap = false;
};

Status combine_slots(const CombineArgs& args, Stream stream);

}  // namespace lockstep::cuda
