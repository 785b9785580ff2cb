// Prints a reply on standard output as it comes: thinking dimmed, or between its tags where nothing
// can be dimmed.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace lockstep {

struct ReplyText {
  std::string thinking;
  std::string answer;
};

class ReplyPrinter {
 public:
  // `terminal`: control characters of the reply are not passed on.
  ReplyPrinter(bool terminal, bool dim) : terminal_(terminal), dim_(dim) {}

  // Errors of standard output.
  Status add(const ReplyText& text);
  // Ends the last line.
  Status finish();

 private:
  Status close_thinking();
  Status put(std::string_view text);
  Status put_reply(const std::string& text);

  bool terminal_;
  bool dim_;
  bool in_thinking_ = false;
  char last_ = '\n';
};

}  // namespace lockstep
