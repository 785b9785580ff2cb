// The many-row product for up to 64 rows of a matrix with few outputs: its parts of K spread over
// the GPU. Same bits as the other products.
#pragma once

#include "kernels/linear/cuda_linear.h"

namespace lockstep::cuda {

// Floats of scratch.
constexpr size_t split_parts_scratch(const LinearArgs& args) {
  return static_cast<size_t>(args.weights.groups() / part_groups(args.weights.inputs)) *
         args.in.rows * args.weights.outputs;
}

Status linear_split_parts_sm90(Way way, const LinearArgs& args, float* scratch, Stream stream);

}  // namespace lockstep::cuda
