#include "kernels/embed/cpu.h"
#include "kernels/launch.h"
#include "kernels/linear/weight_class.h"

namespace lockstep {
namespace {

using EmbedRow = void(const MatrixView&, int64_t, float*);
constexpr KernelRow<EmbedRow> kRows[] = {LOCKSTEP_KERNEL_ROWS(embed_row)};

}  // namespace

ShapeClass shape_class(const EmbedArgs& args) { return weight_class("embed", args.table); }

std::vector<KernelInfo> embed_kernels() { return kernel_infos(kRows); }

void run_embed(const CpuContext& context, const EmbedArgs& args) {
  const auto& kernel = pick_kernel(context, kRows, args);
  context.pool.run(args.rows, [&](int64_t row, int) {
    kernel.function(args.table, args.ids[row], args.out + row * args.table.cols);
  });
}

}  // namespace lockstep
