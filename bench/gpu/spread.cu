// How the few-row kernel should spread its work: every spread at every shape, for the constants in
// linear_few_row. Not part of `all`.
#include <memory>

#include "bench/gpu/harness.cuh"
#include "bench/gpu/studies.h"
#include "bench/gpu/weights.cuh"

namespace lockstep::gpu_study {

void study_spread() {
  constexpr cuda::Way kWay = cuda::Way::kExactIntegers;
  constexpr int kShapes[][2] = {{34816, 5120}, {5120, 17408}, {16384, 5120},
                                {5120, 6144},  {12288, 2048}, {2048, 4096}};
  for (const auto& shape : kShapes) {
    const AffineMatrix matrix(shape[0], shape[1], 1);
    const RoundedRows rows(kWay, 64, shape[1], 2);
    DeviceArray<float> out(64 * size_t(shape[0]));
    std::vector<std::unique_ptr<PackedMatrix>> copies;
    const double bytes = PackedMatrix(matrix, kWay).bytes();
    for (double held = 0; held < 3e8; held += bytes)
      copies.push_back(std::make_unique<PackedMatrix>(matrix, kWay));
    for (const int count : {1, 8, 16}) {
      print("[%d, %d] rows %d:", shape[0], shape[1], count);
      for (const int warps : {8, 16})
        for (const int ranks : {1, 2, 4})
          for (const int prefetch : {0, 50 << 10}) {
            cuda::LinearArgs args = {.weights = copies[0]->tiles(),
                                     .in = rows.first(count),
                                     .out = out.data(),
                                     .overlap = true};
            const cuda::FewRowSpread spread = {
                .ranks = ranks, .warps = warps, .prefetch_bytes = prefetch};
            if (!cuda::linear_few_row(kWay, args, study_stream(), spread)) continue;
            const Timing t = time_graph(30, 5, [&](int i) {
              args.weights = copies[i % copies.size()]->tiles();
              require(cuda::linear_few_row(kWay, args, study_stream(), spread));
            });
            print("  %dw/%dr/%dk %.2f us (%.0f %%)", warps, ranks, prefetch >> 10, t.median,
                  1e8 * bytes / t.median / read_bandwidth());
          }
      print("\n");
    }
  }
}

}  // namespace lockstep::gpu_study
