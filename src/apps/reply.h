// One reply from prompt ids to text, printed as it comes where that is wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "apps/engine.h"
#include "apps/interrupt.h"
#include "apps/reply_printer.h"
#include "base/result.h"
#include "runtime/reply.h"
#include "runtime/request.h"

namespace lockstep {

struct ReplyOptions {
  bool raw = false;  // the text as it is: no thinking told apart, special tokens shown
  bool begins_in_thinking = false;  // the prompt leaves a think block open
  bool print = true;
  bool terminal = false;  // standard output is one
  bool dim = false;
  SecondInterrupt second_interrupt = SecondInterrupt::kEndsProcess;
};

struct FinishedReply {
  Reply reply;
  std::string text;  // all of it, tags included
  ReplyText parts;   // the same told apart; raw: all answer
};

// Runs the request, for one reply. Ctrl-C cancels it. Errors: those of StreamEngine::submit, the
// one that ended the reply, and of standard output.
Result<FinishedReply> make_reply(Engine& engine, Request request, const ReplyOptions& options);

// A reply that came some other way, told apart but not printed.
FinishedReply finish_reply(const Engine& engine, Reply reply, ReplyOptions options);

}  // namespace lockstep
