// libFuzzer target: a reply is told apart in the same way however it is cut, and the arguments of a
// call that ended are JSON.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "text/reply/reply_parser.h"
#include "text/utf8.h"

namespace {

using namespace lockstep;
using Kind = TextEvent::Kind;

ToolSignatures tools() {
  const json::value list =
      parse_json(
          R"([{"type": "function", "function": {"name": "f", "parameters": {"properties": {
        "s": {"type": "string"}, "i": {"type": "integer"}, "o": {"type": "object"}}}}}])",
          "tools")
          .value();
  return read_tools(list.as_array()).value();
}

std::vector<TextEvent> joined(const std::vector<TextEvent>& events) {
  std::vector<TextEvent> all;
  for (const TextEvent& event : events) {
    const bool piece = event.kind == Kind::kThinking || event.kind == Kind::kContent ||
                       event.kind == Kind::kArguments;
    if (piece && !all.empty() && all.back().kind == event.kind) {
      all.back().text += event.text;
    } else {
      all.push_back(event);
    }
  }
  return all;
}

std::vector<TextEvent> parse(std::string_view text, bool thinking, bool whole, size_t step) {
  static const ToolSignatures known = tools();
  ReplyParser parser(thinking, known);
  std::vector<TextEvent> events;
  for (size_t at = 0; at < text.size(); at += step) parser.push(text.substr(at, step), events);
  parser.finish(whole, events);
  return joined(events);
}

void check_arguments(const std::vector<TextEvent>& events) {
  std::string arguments;
  for (const TextEvent& event : events) {
    if (event.kind == Kind::kCallBegin) arguments.clear();
    if (event.kind == Kind::kArguments) arguments += event.text;
    if (event.kind == Kind::kCallEnd && !parse_json(arguments, "arguments").ok()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const bool thinking = (data[0] & 1) != 0;
  const bool whole = (data[0] & 2) != 0;
  const std::string text =
      replace_invalid_utf8({reinterpret_cast<const char*>(data) + 2, size - 2});
  const auto at_once = parse(text, thinking, whole, text.size() + 1);
  if (parse(text, thinking, whole, 1) != at_once) std::abort();
  if (parse(text, thinking, whole, 1 + data[1] % 32) != at_once) std::abort();
  check_arguments(at_once);
  return 0;
}
