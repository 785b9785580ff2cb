#include "server/reply_reader.h"

#include <utility>

namespace lockstep {
namespace {

using Kind = TextEvent::Kind;

void add(std::vector<TextEvent>& events, std::string content) {
  if (!content.empty()) events.push_back({Kind::kContent, std::move(content)});
}

}  // namespace

ReplyReader::ReplyReader(const Tokenizer& tokenizer, const ReplyReaderOptions& options)
    : plain_(options.plain),
      one_call_(options.one_call),
      detokenizer_(tokenizer, true),
      parser_(options.begins_in_thinking, options.tools),
      stops_(options.stops) {}

void ReplyReader::push(int32_t id, std::vector<TextEvent>& events) {
  if (ended()) return;
  if (!plain_ && parser_.thinking()) ++thinking_tokens_;
  take(detokenizer_.push(id), events);
}

void ReplyReader::finish(bool whole, std::vector<TextEvent>& events) {
  if (ended()) return;
  take(detokenizer_.finish(), events);
  if (!plain_) {
    std::vector<TextEvent> parsed;
    parser_.finish(whole, parsed);
    sift(parsed, events);
  }
  add(events, stops_.finish());
}

void ReplyReader::take(const std::string& text, std::vector<TextEvent>& events) {
  std::vector<TextEvent> parsed;
  if (plain_) {
    parsed.push_back({Kind::kContent, text});
  } else {
    parser_.push(text, parsed);
  }
  sift(parsed, events);
}

// Lets through what stands before the end of the reply.
void ReplyReader::sift(std::vector<TextEvent>& parsed, std::vector<TextEvent>& events) {
  for (TextEvent& event : parsed) {
    if (ended()) return;
    if (event.kind == Kind::kContent) {
      add(events, stops_.push(event.text));
      continue;
    }
    // Content that goes on after a call or a thought is another text: no stop string spans them.
    add(events, stops_.finish());
    if (event.kind == Kind::kCallEnd) ++calls_;
    events.push_back(std::move(event));
  }
}

}  // namespace lockstep
