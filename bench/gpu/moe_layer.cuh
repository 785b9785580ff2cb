// The routed part of a mixture-of-experts layer in the shape of 35b-a3b: grouping, gate and up,
// silu, down, sum in slot order.
#pragma once

#include "bench/gpu/weights.cuh"
#include "kernels/moe_combine/cuda_combine.h"
#include "kernels/moe_route/cuda_group_slots.h"
#include "kernels/silu_mul/cuda_silu_mul.h"

namespace lockstep::gpu_study {

struct MoeShape {
  int experts, chosen, hidden, inner;
};

inline constexpr cuda::Way kChosenWay = cuda::Way::kExactIntegers;

// Buffers for up to `most_rows` rows.
class MoeLayer {
 public:
  MoeLayer(const MoeShape& shape, int most_rows);

  // Few rows (8 a run, at most 64 rows) or many (128 a run). gate_up and down are stacks.
  void run_few(const cuda::Affine4Tiles& gate_up, const cuda::Affine4Tiles& down,
               const cuda::Activations& in, const int* ids, const float* weights, bool overlap);
  void run_many(const cuda::Affine4Tiles& gate_up, const cuda::Affine4Tiles& down,
                const cuda::Activations& in, const int* ids, const float* weights);
  const DeviceArray<float>& y() const { return y_; }

 private:
  cuda::LinearArgs product(const cuda::Affine4Tiles& weights, const cuda::Activations& in,
                           float* out, int slots, int run_rows, bool overlap) const;
  void finish(const cuda::Affine4Tiles& down, int rows, int run_rows, const float* weights,
              bool few, bool overlap);

  const MoeShape shape_;
  DeviceArray<int> row_list_, position_of_, run_count_, counts_;
  DeviceArray<cuda::RowRun> runs_;
  DeviceArray<uint16_t> x_, sums_, inner_x_, inner_sums_;
  DeviceArray<float> gate_up_, down_, y_;
};

}  // namespace lockstep::gpu_study
