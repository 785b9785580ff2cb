// add: x = x + y, the residual connection. Elementwise, bit_exact.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu_context.h"

namespace lockstep {

struct AddArgs {
  float* x = nullptr;        // [rows, n], in place
  const float* y = nullptr;  // [rows, n]
  int64_t rows = 0;
  int64_t n = 0;
};

void run_add(const CpuContext& context, const AddArgs& args);
ShapeClass shape_class(const AddArgs& args);
std::vector<KernelInfo> add_kernels();

}  // namespace lockstep
