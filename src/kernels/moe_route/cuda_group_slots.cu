#include "kernels/moe_route/cuda_group_slots.h"

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/pipeline.cuh"

namespace lockstep::cuda {
namespace {

constexpr int kFewSlots = 1024;  // handled by one block

// Exclusive sum over the block's threads; `shared` holds 2 * blockDim.x ints.
__device__ int exclusive_sum(int value, int* shared) {
  int from = 0;
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    const int other = threadIdx.x >= d ? shared[from + threadIdx.x - d] : 0;
    shared[(blockDim.x - from) + threadIdx.x] = shared[from + threadIdx.x] + other;
    from = blockDim.x - from;
    __syncthreads();
  }
  const int sum = shared[from + threadIdx.x] - value;
  __syncthreads();
  return sum;
}

// Writes the runs of this thread's expert; returns its first position.
__device__ int list_runs(int count, int run_rows, const SlotGroups& groups, int* shared) {
  const int first = exclusive_sum(count, shared);
  const int runs = (count + run_rows - 1) / run_rows;
  const int first_run = exclusive_sum(runs, shared);
  for (int i = 0; i < runs; ++i)
    groups.runs[first_run + i] = {static_cast<int>(threadIdx.x), first + i * run_rows,
                                  min(run_rows, count - i * run_rows)};
  if (threadIdx.x == blockDim.x - 1) *groups.run_count = first_run + runs;
  return first;
}

__global__ void group_few(const int* ids, int slots, int chosen, int run_rows,
                          const SlotGroups groups) {
  __shared__ int shared[2 * 1024], expert[kFewSlots];
  allow_next_kernel();
  wait_for_previous_kernel();
  for (int i = threadIdx.x; i < slots; i += blockDim.x) expert[i] = ids[i];
  __syncthreads();
  int count = 0;
  for (int i = 0; i < slots; ++i) count += expert[i] == threadIdx.x;
  int position = list_runs(count, run_rows, groups, shared);
  for (int i = 0; count > 0 && i < slots; ++i) {
    if (expert[i] != threadIdx.x) continue;
    groups.row_list[position] = i / chosen;
    groups.position_of[i] = position++;
  }
}

// One block an expert; four slots a thread and turn.
__global__ void count_slots(const int* ids, int slots, const SlotGroups groups) {
  __shared__ int warps[32];
  int count = 0;
  for (int i = threadIdx.x * 4; i < slots; i += blockDim.x * 4) {
    const int4 v = *reinterpret_cast<const int4*>(ids + i);
    const int expert = blockIdx.x;
    count += (v.x == expert) + (v.y == expert) + (v.z == expert) + (v.w == expert);
  }
  count = __reduce_add_sync(~0u, count);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w) sum += warps[w];
    groups.counts[blockIdx.x] = sum;
  }
}

// One thread an expert; its first position replaces its count.
__global__ void list_all_runs(int run_rows, const SlotGroups groups) {
  __shared__ int shared[2 * 1024];
  const int count = groups.counts[threadIdx.x];
  groups.counts[threadIdx.x] = list_runs(count, run_rows, groups, shared);
}

// One block an expert; each turn places 4 * blockDim.x slots in order.
__global__ void place_slots(const int* ids, int slots, int chosen, const SlotGroups groups) {
  __shared__ int shared[2 * 1024];
  __shared__ int placed;
  int position = groups.counts[blockIdx.x];
  for (int first = 0; first < slots; first += blockDim.x * 4) {
    const int i = first + threadIdx.x * 4;
    int4 v = make_int4(-1, -1, -1, -1);
    if (i < slots) v = *reinterpret_cast<const int4*>(ids + i);
    const int four[4] = {v.x, v.y, v.z, v.w};
    int count = 0;
    for (int j = 0; j < 4; ++j) count += four[j] == blockIdx.x;
    int at = position + exclusive_sum(count, shared);
    for (int j = 0; j < 4; ++j) {
      if (four[j] != blockIdx.x) continue;
      groups.row_list[at] = (i + j) / chosen;
      groups.position_of[i + j] = at++;
    }
    if (threadIdx.x == blockDim.x - 1) placed = at;
    __syncthreads();
    position = placed;
    __syncthreads();
  }
}

}  // namespace

Status group_slots(const int* ids, int slots, int chosen, int experts, int run_rows,
                   const SlotGroups& groups, bool overlap, Stream stream) {
  if (experts > 1024)
    return Error{ErrorCode::kUnsupported, "grouping of slots: at most 1024 experts"};
  const auto each = dim3(static_cast<unsigned>(experts));
  if (slots > kFewSlots && slots % 4 != 0)
    return Error{ErrorCode::kUnsupported, "grouping of many slots: a multiple of 4"};
  if (slots <= kFewSlots)
    return launch("group few slots", group_few, {.block = each, .overlap = overlap}, stream, ids,
                  slots, chosen, run_rows, groups);
  LOCKSTEP_RETURN_IF_ERROR(launch("count slots", count_slots, {.grid = each, .block = dim3(256)},
                                  stream, ids, slots, groups));
  LOCKSTEP_RETURN_IF_ERROR(
      launch("list runs", list_all_runs, {.block = each}, stream, run_rows, groups));
  return launch("place slots", place_slots, {.grid = each, .block = dim3(1024)}, stream, ids, slots,
                chosen, groups);
}

}  // namespace lockstep::cuda
