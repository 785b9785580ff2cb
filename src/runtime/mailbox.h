// The queue between the engine's thread, which puts events in, and the caller's, which takes them
// out.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "runtime/reply_stream.h"
#include "sampling/settings.h"

namespace lockstep {

class Mailbox {
 public:
  Mailbox(uint64_t request, int64_t replies, const SamplingSettings& sampling)
      : request_(request), open_(replies), sampling_(sampling) {}

  // The engine's side.
  void put(ReplyEvent event);
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  // The caller's side.
  // Nothing after the last end, or where `patience` runs out.
  std::optional<ReplyEvent> take(std::optional<std::chrono::milliseconds> patience);
  bool has_ended();
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  uint64_t request() const { return request_; }
  const SamplingSettings& sampling() const { return sampling_; }

 private:
  const uint64_t request_;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<ReplyEvent> events_;
  int64_t open_;  // replies whose end has not been taken
  const SamplingSettings sampling_;
};

}  // namespace lockstep
