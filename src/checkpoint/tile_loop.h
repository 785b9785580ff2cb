// Work over the rows of tensors, one after another, in tiles that threads take in turn, with
// progress: what writes and checks checkpoints of any size in constant memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/result.h"
#include "base/thread_pool.h"

namespace lockstep {

// Called with what is done so far and in all; false stops. May be empty.
using Progress = std::function<bool(uint64_t done, uint64_t total)>;

class TileLoop {
 public:
  // `total`: bytes of all rows that will come.
  TileLoop(ThreadPool& pool, uint64_t total, const Progress& progress)
      : pool_(pool), total_(total), progress_(progress) {}

  int threads() const { return pool_.threads(); }

  // Calls work(first row, rows, thread), which returns a Status, for tiles of about a mebibyte of
  // [0, rows). The first error ends the loop at the next pause.
  template <typename Work>
  Status run(int64_t rows, uint64_t row_bytes, const Work& work) {
    constexpr int64_t kTileBytes = 1 << 20;
    constexpr int64_t kTilesBetweenReports = 64;
    const int64_t tile =
        std::max<int64_t>(1, kTileBytes / static_cast<int64_t>(std::max<uint64_t>(1, row_bytes)));
    const int64_t batch = tile * kTilesBetweenReports;
    for (int64_t begin = 0; begin < rows; begin += batch) {
      const int64_t count = std::min(batch, rows - begin);
      pool_.run((count + tile - 1) / tile, [&](int64_t index, int thread) {
        const int64_t first = index * tile;
        keep(work(begin + first, std::min(tile, count - first), thread));
      });
      if (!status_.ok()) return status_;
      done_ += static_cast<uint64_t>(count) * row_bytes;
      if (progress_ && !progress_(done_, total_)) {
        return Error{ErrorCode::kIo, "stopped before the checkpoint was whole"};
      }
    }
    return {};
  }

 private:
  void keep(const Status& status) {
    if (status.ok()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (status_.ok()) status_ = status;
  }

  ThreadPool& pool_;
  uint64_t done_ = 0;
  uint64_t total_;
  const Progress& progress_;
  std::mutex mutex_;
  Status status_;
};

}  // namespace lockstep
