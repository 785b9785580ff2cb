#include "kernels/parallel.h"
#include "kernels/simd/probe_cpu.h"

namespace lockstep {
namespace {

constexpr KernelRow<RangeKernel<SimdProbeArgs>> kRows[] = {LOCKSTEP_KERNEL_ROWS(simd_probe_range)};

}  // namespace

ShapeClass shape_class(const SimdProbeArgs&) { return {.op = "simd_probe", .dims = {}}; }

void run_simd_probe(const CpuContext& context, const SimdProbeArgs& args) {
  run_kernel<SimdProbeArgs>(context, kRows, args, args.n, kElementsPerTask);
}

}  // namespace lockstep
