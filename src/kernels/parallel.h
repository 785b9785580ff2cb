// How ops cut their work into tasks. A task owns its outputs whole, so the cut never decides a bit.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/launch.h"

namespace lockstep {

// Elements that are worth waking a thread for.
inline constexpr int64_t kElementsPerTask = 16384;

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How many rows of `row_elements` make a task.
constexpr int64_t rows_per_task(int64_t row_elements) {
  return std::max<int64_t>(1, kElementsPerTask / std::max<int64_t>(1, row_elements));
}

// Calls function(begin, end) for consecutive ranges of `step` that cover [0, count).
template <typename Function>
void run_ranges(const CpuContext& context, int64_t count, int64_t step, const Function& function) {
  context.pool.run(ceil_div(count, step), [&](int64_t task, int) {
    const int64_t begin = task * step;
    function(begin, std::min(count, begin + step));
  });
}

// A kernel that computes rows (or elements) [begin, end) of its op.
template <typename Args>
using RangeKernel = void(const Args& args, int64_t begin, int64_t end);

// Runs the kernel of the context's instruction set over [0, count) in tasks of `step`.
template <typename Args>
void run_kernel(const CpuContext& context, std::span<const KernelRow<RangeKernel<Args>>> kernels,
                const Args& args, int64_t count, int64_t step) {
  const auto& kernel = pick_kernel(context, kernels, args);
  run_ranges(context, count, step,
             [&](int64_t begin, int64_t end) { kernel.function(args, begin, end); });
}

// Kernels of rows that belong to sequences.
template <typename Args, typename Sequence>
using SequenceKernel = void(const Args& args, const Sequence& sequence, int64_t begin, int64_t end);

// Calls function(sequence, task) for every task in [0, tasks_of(sequence)) of every sequence.
template <typename Sequence, typename TasksOf, typename Function>
void run_sequences(const CpuContext& context, const Sequence* sequences, int64_t sequence_count,
                   const TasksOf& tasks_of, const Function& function) {
  int64_t total = 0;
  for (int64_t s = 0; s < sequence_count; ++s) total += tasks_of(sequences[s]);
  context.pool.run(total, [&](int64_t index, int) {
    const Sequence* sequence = sequences;
    while (index >= tasks_of(*sequence)) index -= tasks_of(*sequence++);
    function(*sequence, index);
  });
}

}  // namespace lockstep
