#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "apps/interrupt.h"
#include "apps/line_reader.h"

namespace lockstep {
namespace {

constexpr size_t kMaxLineBytes = size_t{64} << 20;

class PlainReader : public LineReader {
 public:
  Result<LineEvent> read(const std::string&, std::string& line) override {
    size_t searched = 0;
    while (true) {
      const size_t end = buffer_.find('\n', searched);
      if (end != std::string::npos) return take(end, end + 1, line);
      searched = buffer_.size();
      if (searched > kMaxLineBytes) {
        return Error{ErrorCode::kInvalidArgument, "a line of more than 64 MiB"};
      }
      LOCKSTEP_ASSIGN_OR_RETURN(const Filled filled, fill());
      if (filled == Filled::kInterrupted) return LineEvent::kInterrupted;
      if (filled == Filled::kMore) continue;
      if (buffer_.empty()) return LineEvent::kEnd;
      return take(buffer_.size(), buffer_.size(), line);  // a last line without a line break
    }
  }

 private:
  enum class Filled { kMore, kEnd, kInterrupted };

  LineEvent take(size_t end, size_t next, std::string& line) {
    line = buffer_.substr(0, end);
    if (line.ends_with('\r')) line.pop_back();
    buffer_.erase(0, next);
    return LineEvent::kLine;
  }

  Result<Filled> fill() {
    if (!wait_for_input()) return Filled::kInterrupted;
    std::array<char, 4096> block;
    const ssize_t count = ::read(STDIN_FILENO, block.data(), block.size());
    if (count > 0) buffer_.append(block.data(), static_cast<size_t>(count));
    if (count > 0) return Filled::kMore;
    if (count == 0) return Filled::kEnd;
    if (errno == EINTR) return Filled::kMore;
    return Error{ErrorCode::kIo, std::string("standard input: ") + std::strerror(errno)};
  }

  std::string buffer_;
};

}  // namespace

std::unique_ptr<LineReader> make_plain_reader() { return std::make_unique<PlainReader>(); }

}  // namespace lockstep
