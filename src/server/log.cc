#include "server/log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "base/json.h"

namespace lockstep {
namespace {

bool is_plain(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f) {
      return false;
    }
  }
  return true;
}

}  // namespace

void log_line(std::string_view level, std::string_view event, const LogFields& fields) {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::string line = fmt::format("time={:%Y-%m-%dT%H:%M:%S}.{:03}Z level={} event={}",
                                 fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                                 milliseconds, level, event);
  for (const auto& [name, value] : fields) {
    line += fmt::format(" {}={}", name, is_plain(value) ? value : quote_json(value));
  }
  line += '\n';
  // One call, so that lines of several threads stay whole.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace lockstep
