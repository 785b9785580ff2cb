#include "server/generation.h"

#include <chrono>
#include <memory>
#include <utility>

namespace lockstep {
namespace {

constexpr std::chrono::seconds kPatience(5);

std::vector<ReplyReader> readers_of(const ServedModel& model, const GenerationCall& call) {
  std::vector<ReplyReader> readers;
  for (int64_t i = 0; i < call.request.replies; ++i) {
    readers.emplace_back(model.tokenizer, call.reading);
  }
  return readers;
}

}  // namespace

Result<Generation> Generation::begin(const ServedModel& model, GenerationCall call,
                                     const std::atomic<bool>& cancel) {
  std::vector<ReplyReader> readers = readers_of(model, call);
  Request& request = call.request;
  request.stop_ids.insert(request.stop_ids.end(), model.stop_ids.begin(), model.stop_ids.end());
  request.cancel = &cancel;
  // A stop in the text is found where the token is drawn, so that no token beyond it is.
  if (!call.reading.stops.empty() || call.reading.one_call) {
    auto watchers = std::make_shared<std::vector<ReplyReader>>(readers);
    request.check = [watchers](int64_t reply, int32_t id) {
      ReplyReader& watcher = (*watchers)[static_cast<size_t>(reply)];
      std::vector<TextEvent> events;
      watcher.push(id, events);
      return TokenVerdict{.keep = true, .stop = watcher.ended()};
    };
  }
  LOCKSTEP_ASSIGN_OR_RETURN(ReplyStream stream, model.engine->submit(std::move(request)));
  return Generation(std::move(stream), std::move(readers));
}

void Generation::run(const GenerationSink& sink) {
  while (!stream_.ended()) {
    const std::optional<ReplyEvent> event = stream_.next_for(kPatience);
    if (!event) {
      if (sink.wait) sink.wait();
      continue;
    }
    ReplyReader& reader = readers_[static_cast<size_t>(event->reply)];
    GenerationStep step = {.reply = event->reply};
    if (const auto* token = std::get_if<ReplyToken>(&event->what)) {
      step.token = token;
      reader.push(token->id, step.events);
      sink.step(step);
      continue;
    }
    if (const auto* scored = std::get_if<PromptToken>(&event->what)) {
      if (sink.prompt) sink.prompt(*scored);
      continue;
    }
    const auto& end = std::get<ReplyEnd>(event->what);
    reader.finish(end.status.ok() && end.finish == FinishReason::kStop, step.events);
    if (!step.events.empty()) sink.step(step);
    sink.end({event->reply, end, reader.stop(), reader.calls(), reader.thinking_tokens()});
  }
}

}  // namespace lockstep
