// Many replies at once on one model: requests go in from any thread, events come out, and one
// thread owns the pass. It sleeps while there is nothing to do.
//
// The bits of a reply do not depend on who else is served (docs/numerics.md); docs/runtime.md says
// how time and memory are shared.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/engine_core.h"
#include "runtime/reply_stream.h"
#include "runtime/request.h"

namespace lockstep {

class StreamEngine {
 public:
  // Pass and pool outlive the engine and belong to its thread until then. The pass takes
  // options.rules.rows rows and gives options.streams rows of logits. Errors: those of
  // PromptCache::open.
  static Result<std::unique_ptr<StreamEngine>> make(ForwardPass& pass, ThreadPool& pool,
                                                    const EngineOptions& options);
  // Replies that have not ended are cancelled.
  ~StreamEngine();
  StreamEngine(const StreamEngine&) = delete;
  StreamEngine& operator=(const StreamEngine&) = delete;

  // What submit would refuse, before anything runs.
  Status check(const Request& request) const { return check_request(request, limits_); }

  // Queues the request. Its events come in the stream: every token as it is committed, and an end
  // for each reply. An end is an error by name for no memory, a value that is not finite
  // (kNumeric, with layer and position) or a failed phase of a round.
  Result<ReplyStream> submit(Request request);

  const RequestLimits& limits() const { return limits_; }
  EngineFigures figures() const;

 private:
  StreamEngine(ForwardPass& pass, ThreadPool& pool, const EngineOptions& options,
               std::shared_ptr<PagePool> pages, std::unique_ptr<PromptCache> cache);
  void run();
  bool take_requests(bool wait);

  RequestLimits limits_;
  EngineCore core_;  // of the thread
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<RequestGroup>> inbox_;
  EngineFigures figures_;
  uint64_t requests_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace lockstep
