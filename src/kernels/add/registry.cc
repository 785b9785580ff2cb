#include <algorithm>

#include "kernels/add/cpu.h"

namespace lockstep {
namespace {

using AddRange = void(const AddArgs&, int64_t, int64_t);
constexpr KernelRow<AddRange> kRows[] = {LOCKSTEP_KERNEL_ROWS(add_range)};

// Enough work to be worth waking a thread; a multiple of 16, though no sum crosses elements.
constexpr int64_t kElementsPerTask = 16384;

}  // namespace

void run_add(const CpuContext& context, const AddArgs& args) {
  const auto& kernel = pick_kernel(std::span<const KernelRow<AddRange>>(kRows), context.isa);
  const int64_t tasks = (args.n + kElementsPerTask - 1) / kElementsPerTask;
  context.pool.run(tasks, [&](int64_t task, int) {
    const int64_t begin = task * kElementsPerTask;
    kernel.function(args, begin, std::min(args.n, begin + kElementsPerTask));
  });
}

}  // namespace lockstep
