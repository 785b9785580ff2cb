#include "kernels/conv1d_causal/cpu.h"
#include "kernels/parallel.h"

namespace lockstep {
namespace {

using Channels = void(const Conv1dCausalArgs&, const ConvSequence&, int64_t, int64_t);
constexpr KernelRow<Channels> kRows[] = {LOCKSTEP_KERNEL_ROWS(conv1d_causal_channels)};

// A task reads this many neighbouring channels of every row of a sequence.
constexpr int64_t kChannelsPerTask = 1024;

}  // namespace

ShapeClass shape_class(const Conv1dCausalArgs& args) {
  return {.op = "conv1d_causal", .dims = {{"channels", args.channels}}};
}

std::vector<KernelInfo> conv1d_causal_kernels() { return kernel_infos(kRows); }

void run_conv1d_causal(const CpuContext& context, const Conv1dCausalArgs& args) {
  const auto& kernel = pick_kernel(context, kRows, args);
  run_sequences(
      context, args.sequences, args.sequence_count,
      [&](const ConvSequence&) { return ceil_div(args.channels, kChannelsPerTask); },
      [&](const ConvSequence& sequence, int64_t task) {
        const int64_t begin = task * kChannelsPerTask;
        kernel.function(args, sequence, begin, std::min(args.channels, begin + kChannelsPerTask));
      });
}

}  // namespace lockstep
