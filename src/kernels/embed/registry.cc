#include "kernels/embed/cpu.h"

namespace lockstep {
namespace {

using EmbedRow = void(const MatrixView&, int64_t, float*);
constexpr KernelRow<EmbedRow> kRows[] = {LOCKSTEP_KERNEL_ROWS(embed_row)};

}  // namespace

void run_embed(const CpuContext& context, const EmbedArgs& args) {
  const auto& kernel = pick_kernel(std::span<const KernelRow<EmbedRow>>(kRows), context.isa);
  context.pool.run(args.rows, [&](int64_t row, int) {
    kernel.function(args.table, args.ids[row], args.out + row * args.table.cols);
  });
}

}  // namespace lockstep
