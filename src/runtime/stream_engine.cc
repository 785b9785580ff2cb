#include "runtime/stream_engine.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/float_mode.h"

namespace lockstep {

Result<std::unique_ptr<StreamEngine>> StreamEngine::make(ForwardPass& pass, ThreadPool& pool,
                                                         const EngineOptions& options) {
  const StateShape& shape = pass.model().state_shape();
  const size_t page = std::max<size_t>(1, shape.page_bytes());
  int64_t pages = options.pages;
  if (options.cache) pages += static_cast<int64_t>(options.cache->memory_bytes / page);
  std::shared_ptr<PagePool> all = PagePool::make(shape.page_bytes(), pages);
  std::unique_ptr<PromptCache> cache;
  if (options.cache) {
    LOCKSTEP_ASSIGN_OR_RETURN(cache, PromptCache::open(*options.cache, [&shape, all] {
                                return SequenceState(shape, all);
                              }));
  }
  return std::unique_ptr<StreamEngine>(
      new StreamEngine(pass, pool, options, std::move(all), std::move(cache)));
}

StreamEngine::StreamEngine(ForwardPass& pass, ThreadPool& pool, const EngineOptions& options,
                           std::shared_ptr<PagePool> pages, std::unique_ptr<PromptCache> cache)
    : limits_{.vocab = pass.model().config().vocab_size,
              .context = options.context,
              .streams = options.streams},
      core_(pass, pool, options, std::move(pages), std::move(cache)),
      thread_([this] { run(); }) {}

StreamEngine::~StreamEngine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

Result<ReplyStream> StreamEngine::submit(Request request) {
  LOCKSTEP_RETURN_IF_ERROR(check(request));
  if (!request.sampling.seed) request.sampling.seed = random_seed();
  auto group = std::make_shared<RequestGroup>();
  group->limit = reply_limit(request, limits_);
  group->submitted = Clock::now();
  group->request = std::move(request);
  {
    const std::lock_guard lock(mutex_);
    group->mailbox =
        std::make_shared<Mailbox>(++requests_, group->request.replies, group->request.sampling);
    inbox_.push_back(group);
  }
  wake_.notify_one();
  return ReplyStream(group->mailbox);
}

EngineFigures StreamEngine::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

// False: the engine stops.
bool StreamEngine::take_requests(bool wait) {
  std::vector<std::shared_ptr<RequestGroup>> taken;
  {
    std::unique_lock lock(mutex_);
    figures_ = core_.figures();
    if (wait) wake_.wait(lock, [&] { return stopping_ || !inbox_.empty(); });
    if (stopping_) return false;
    taken.swap(inbox_);
  }
  for (const auto& group : taken) core_.add(group);
  return true;
}

void StreamEngine::run() {
  check_float_mode();
  bool busy = false;
  while (true) {
    try {
      if (!take_requests(!busy)) break;
      busy = core_.step();
    } catch (const std::bad_alloc&) {
      core_.fail_all({ErrorCode::kOutOfMemory, "no memory to go on with this round"});
      busy = false;
    }
  }
  for (const auto& group : inbox_) core_.add(group);
  core_.cancel_all();
}

}  // namespace lockstep
