// A generation as every dialect sees it: a prompt and settings in, typed pieces of text out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/reply.h"
#include "runtime/request.h"
#include "server/reply_reader.h"
#include "server/served_model.h"

namespace lockstep {

struct GenerationCall {
  Request request = {};  // all but stop ids, check and cancel
  ReplyReaderOptions reading = {};
};

// A token of one reply, and what it makes certain.
struct GenerationStep {
  int64_t reply = 0;
  const ReplyToken* token = nullptr;  // null: the end of the reply has made it certain
  std::vector<TextEvent> events = {};
};

struct GenerationEnd {
  int64_t reply = 0;
  ReplyEnd end = {};
  std::optional<std::string> stop = std::nullopt;  // the stop string that ended it
  int64_t calls = 0;
  int64_t thinking_tokens = 0;
};

// What happens, in order. `wait` is called where nothing has come for a while, so that the client's
// connection may be kept alive; null: never.
struct GenerationSink {
  std::function<void(const GenerationStep&)> step;
  std::function<void(const PromptToken&)> prompt = nullptr;  // where it is to be scored
  std::function<void(const GenerationEnd&)> end;
  std::function<void()> wait = nullptr;
};

// A generation that runs. Dropping it cancels it.
class Generation {
 public:
  // `cancel` outlives it. Errors: those of StreamEngine::submit.
  static Result<Generation> begin(const ServedModel& model, GenerationCall call,
                                  const std::atomic<bool>& cancel);

  // With the seed that is used.
  const SamplingSettings& sampling() const { return stream_.sampling(); }
  // Until every reply has ended.
  void run(const GenerationSink& sink);
  void cancel() { stream_.cancel(); }

 private:
  Generation(ReplyStream stream, std::vector<ReplyReader> readers)
      : stream_(std::move(stream)), readers_(std::move(readers)) {}

  ReplyStream stream_;
  std::vector<ReplyReader> readers_;  // of each reply
};

}  // namespace lockstep
