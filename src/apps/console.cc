#include "apps/console.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lockstep {
namespace {

// 0 or errno.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

Status print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return {};
  return Error{ErrorCode::kIo, std::string("standard output: ") + std::strerror(error)};
}

std::string without_controls(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool blank = byte == '\n' || byte == '\t' || (byte == '\r' && next == '\n');
    const bool c0 = (byte < 0x20 && !blank) || byte == 0x7f;
    const bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F
    shown += c0 || c1 ? '?' : text[i];
    if (c1) ++i;
  }
  return shown;
}

void note_raw(std::string_view text) { write_all(STDERR_FILENO, text); }

void note(std::string_view line) { note_raw(without_controls(line) + "\n"); }

int fail(ExitCode code, std::string_view message) {
  std::string line = "lockstep: " + std::string(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  note(line);
  return code;
}

}  // namespace lockstep
