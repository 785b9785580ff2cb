#include "apps/reply_printer.h"

#include "apps/console.h"

namespace lockstep {

Status ReplyPrinter::put(std::string_view text) {
  if (text.empty()) return {};
  last_ = text.back();
  return print(text);
}

Status ReplyPrinter::put_reply(const std::string& text) {
  return put(terminal_ ? without_controls(text) : text);
}

Status ReplyPrinter::close_thinking() {
  if (!in_thinking_) return {};
  in_thinking_ = false;
  return put(dim_ ? "\x1b[0m\n\n" : "\n</think>\n\n");
}

Status ReplyPrinter::add(const ReplyText& text) {
  if (!text.thinking.empty()) {
    if (!in_thinking_) LOCKSTEP_RETURN_IF_ERROR(put(dim_ ? "\x1b[2m" : "<think>\n"));
    in_thinking_ = true;
    LOCKSTEP_RETURN_IF_ERROR(put_reply(text.thinking));
  }
  if (text.answer.empty()) return {};
  LOCKSTEP_RETURN_IF_ERROR(close_thinking());
  return put_reply(text.answer);
}

Status ReplyPrinter::finish() {
  if (in_thinking_) {
    in_thinking_ = false;
    return put(dim_ ? "\x1b[0m\n" : "\n</think>\n");
  }
  return last_ == '\n' ? Status() : put("\n");
}

}  // namespace lockstep
