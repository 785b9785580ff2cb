#include "bench/read_bandwidth.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <new>
#include <span>

#include "bench/read_memory.h"
#include "kernels/parallel.h"

namespace lockstep::bench {
namespace {

using ReadKernel = uint64_t(std::span<const uint64_t>);
constexpr KernelRow<ReadKernel> kRows[] = {LOCKSTEP_KERNEL_ROWS(read_memory)};

constexpr int64_t kWordsPerTask = int64_t{1} << 17;  // 1 MiB

}  // namespace

Result<ReadBandwidth> ReadBandwidth::make(uint64_t bytes) {
  try {
    return ReadBandwidth(Buffer<uint64_t>(bytes / sizeof(uint64_t)));
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOutOfMemory,
                 fmt::format("no {} MiB to measure the bandwidth with", bytes >> 20)};
  }
}

double ReadBandwidth::measure(const CpuContext& context) {
  using Clock = std::chrono::steady_clock;
  const auto& kernel = row_of(kRows, context.isa);
  std::atomic<uint64_t> parity{0};
  const auto start = Clock::now();
  run_ranges(
      context, static_cast<int64_t>(words_.size()), kWordsPerTask, [&](int64_t begin, int64_t end) {
        const auto part =
            words_.span().subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
        parity.fetch_xor(kernel.function(part), std::memory_order_relaxed);
      });
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  parity_ ^= parity.load();
  return static_cast<double>(words_.bytes()) / seconds;
}

}  // namespace lockstep::bench
