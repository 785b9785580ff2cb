// The only file that sees libedit.
#include <histedit.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <utility>

#include "apps/interrupt.h"
#include "apps/line_reader.h"

namespace lockstep {
namespace {

constexpr int kHistoryLines = 1000;
constexpr char kEndOfInput = 4;  // Ctrl-D

class TerminalReader : public LineReader {
 public:
  TerminalReader() : edit_(el_init("lockstep", stdin, stderr, stderr)), history_(history_init()) {
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT, &TerminalReader::prompt_of);
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_HIST, history, history_);
    // libedit's own reading goes on after a signal; ours gives the line up.
    el_set(edit_, EL_GETCFN, &TerminalReader::read_character);
  }
  ~TerminalReader() override {
    history_end(history_);
    el_end(edit_);
  }

  Result<LineEvent> read(const std::string& prompt, std::string& line) override {
    prompt_ = prompt;
    interrupted_ = false;
    int length = 0;
    const char* text = el_gets(edit_, &length);
    if (interrupted_) {
      el_reset(edit_);
      std::fputs("\n", stderr);
      return LineEvent::kInterrupted;
    }
    if (text == nullptr || length <= 0) {
      std::fputs("\n", stderr);
      return LineEvent::kEnd;
    }
    line.assign(text, static_cast<size_t>(length));
    if (line.ends_with('\n')) line.pop_back();
    HistEvent event;
    if (!line.empty()) history(history_, &event, H_ENTER, line.c_str());
    return LineEvent::kLine;
  }

 private:
  static TerminalReader& self_of(EditLine* edit) {
    void* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return *static_cast<TerminalReader*>(self);
  }

  static char* prompt_of(EditLine* edit) { return self_of(edit).prompt_.data(); }

  // 1: a character, 0: the end, -1: give up.
  static int read_character(EditLine* edit, wchar_t* out) {
    std::mbstate_t state = {};
    while (true) {
      if (!wait_for_input()) {
        self_of(edit).interrupted_ = true;
        return -1;
      }
      char byte = 0;
      const ssize_t count = ::read(STDIN_FILENO, &byte, 1);
      if (count == 0) return 0;
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return -1;
      // A Ctrl-D typed while the terminal still took whole lines arrives as a zero byte.
      if (byte == 0) byte = kEndOfInput;
      const size_t used = std::mbrtowc(out, &byte, 1, &state);
      if (used == static_cast<size_t>(-2)) continue;  // part of a character
      if (used == static_cast<size_t>(-1)) {
        state = {};
        *out = L'\uFFFD';
      }
      return 1;
    }
  }

  EditLine* edit_;
  History* history_;
  std::string prompt_;
  bool interrupted_ = false;
};

}  // namespace

std::unique_ptr<LineReader> make_terminal_reader() {
  // Characters of several bytes need a UTF-8 locale; numbers keep the C form.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  return std::make_unique<TerminalReader>();
}

}  // namespace lockstep
