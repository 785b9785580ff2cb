// Lines from the user: edited and with history on a terminal, plain otherwise.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace lockstep {

enum class LineEvent {
  kLine,
  kEnd,          // end of input, or Ctrl-D on an empty line
  kInterrupted,  // Ctrl-C
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  // A line without its line break; the prompt is shown on a terminal only. Ctrl-C must be a flag
  // (apps/interrupt.h) while it waits.
  virtual Result<LineEvent> read(const std::string& prompt, std::string& line) = 0;
};

std::unique_ptr<LineReader> make_plain_reader();
// Both standard input and standard error are a terminal.
std::unique_ptr<LineReader> make_terminal_reader();

}  // namespace lockstep
