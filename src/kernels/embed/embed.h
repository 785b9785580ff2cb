// embed: out[r] = row ids[r] of the table, in float32. Dense values convert exactly; an affine
// value is fma(scale, q, bias), one rounding. No reduction; bit_exact.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/matrix.h"
#include "kernels/cpu_context.h"

namespace lockstep {

struct EmbedArgs {
  MatrixView table;              // [V, H]
  const int32_t* ids = nullptr;  // [rows], each in [0, V)
  int64_t rows = 0;
  float* out = nullptr;  // [rows, H]
};

void run_embed(const CpuContext& context, const EmbedArgs& args);
ShapeClass shape_class(const EmbedArgs& args);
std::vector<KernelInfo> embed_kernels();

}  // namespace lockstep
