#include "apps/reply.h"

#include <utility>
#include <vector>

#include "apps/reply_printer.h"
#include "text/detokenizer.h"
#include "text/reply/reply_parser.h"

namespace lockstep {
namespace {

// Turns tokens into text and hands it on.
class ReplySink {
 public:
  ReplySink(const Tokenizer& tokenizer, const ReplyOptions& options)
      : options_(options),
        detokenizer_(tokenizer, !options.raw),
        parser_(options.begins_in_thinking, ToolSignatures()),
        printer_(options.terminal, options.dim) {}

  // The first error of standard output, after which nothing more is printed.
  const Status& status() const { return status_; }

  void add(int32_t id) { add_text(detokenizer_.push(id)); }

  void finish() {
    add_text(detokenizer_.finish());
    if (!options_.raw) {
      std::vector<TextEvent> events;
      parser_.finish(true, events);
      hand_on(told_apart(events));
    }
    if (options_.print && status_.ok()) status_ = printer_.finish();
  }

  std::string take_text() { return std::move(text_); }
  ReplyText take_parts() { return std::move(parts_); }

 private:
  void add_text(const std::string& text) {
    text_ += text;
    if (options_.raw) return hand_on({{}, text});
    std::vector<TextEvent> events;
    parser_.push(text, events);
    hand_on(told_apart(events));
  }

  static ReplyText told_apart(const std::vector<TextEvent>& events) {
    ReplyText piece;
    for (const TextEvent& event : events) {
      (event.kind == TextEvent::Kind::kThinking ? piece.thinking : piece.answer) += event.text;
    }
    return piece;
  }

  void hand_on(const ReplyText& piece) {
    parts_.thinking += piece.thinking;
    parts_.answer += piece.answer;
    if (options_.print && status_.ok()) status_ = printer_.add(piece);
  }

  ReplyOptions options_;
  Detokenizer detokenizer_;
  ReplyParser parser_;
  ReplyPrinter printer_;
  Status status_;
  std::string text_;
  ReplyText parts_;
};

}  // namespace

Result<FinishedReply> make_reply(Engine& engine, Request request, const ReplyOptions& options) {
  ReplySink sink(engine.tokenizer, options);
  const InterruptScope interrupt(options.second_interrupt);
  request.cancel = &InterruptScope::flag();
  LOCKSTEP_ASSIGN_OR_RETURN(ReplyStream stream, engine.streams->submit(std::move(request)));
  std::vector<Reply> replies = collect_replies(stream, [&](int64_t, const ReplyToken& token) {
    sink.add(token.id);
    if (!sink.status().ok()) stream.cancel();
  });
  sink.finish();
  Reply& reply = replies.front();
  LOCKSTEP_RETURN_IF_ERROR(reply.end.status);
  LOCKSTEP_RETURN_IF_ERROR(sink.status());
  return FinishedReply{std::move(reply), sink.take_text(), sink.take_parts()};
}

FinishedReply finish_reply(const Engine& engine, Reply reply, ReplyOptions options) {
  options.print = false;
  ReplySink sink(engine.tokenizer, options);
  for (const ReplyToken& token : reply.tokens) sink.add(token.id);
  sink.finish();
  return {std::move(reply), sink.take_text(), sink.take_parts()};
}

}  // namespace lockstep
