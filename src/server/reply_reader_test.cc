#include "server/reply_reader.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace lockstep {
namespace {

using Kind = TextEvent::Kind;

const Tokenizer& tokenizer() {
  static const Tokenizer loaded = load_tokenizer(std::string(LOCKSTEP_SOURCE_DIR) +
                                                 "/models/tiny-dense-mlx-4bit/tokenizer.json")
                                      .value();
  return loaded;
}

ToolSignatures tools() {
  return read_tools(parse_json(R"([{"type": "function", "function": {"name": "now"}}])", "tools")
                        .value()
                        .as_array())
      .value();
}

struct Outcome {
  std::string thinking;
  std::string content;
  int64_t calls = 0;
  int64_t tokens = 0;  // that were pushed before the end
  std::optional<std::string> stop;
};

// `text` as the tokens of a reply, one byte each or as the tokenizer cuts them.
Outcome read(const std::string& text, const ReplyReaderOptions& options, bool by_bytes) {
  std::vector<int32_t> ids;
  if (by_bytes) {
    for (const char c : text) ids.push_back(tokenizer().encode(std::string(1, c)).value().front());
  } else {
    ids = tokenizer().encode(text).value();
  }
  ReplyReader reader(tokenizer(), options);
  std::vector<TextEvent> events;
  Outcome outcome;
  for (const int32_t id : ids) {
    if (reader.ended()) break;
    reader.push(id, events);
    ++outcome.tokens;
  }
  reader.finish(true, events);
  for (const TextEvent& event : events) {
    if (event.kind == Kind::kThinking) outcome.thinking += event.text;
    if (event.kind == Kind::kContent) outcome.content += event.text;
  }
  outcome.calls = reader.calls();
  outcome.stop = reader.stop();
  return outcome;
}

TEST(ReplyReader, StopsBindInContentAlone) {
  const ReplyReaderOptions options = {
      .begins_in_thinking = true, .tools = tools(), .stops = {"END", "parameter"}};
  const std::string text =
      "an END while thinking</think>\n\nfirst<tool_call>\n<function=now>\n<parameter=x>\nEND\n"
      "</parameter>\n</function>\n</tool_call>\nand EN then END never shown";
  for (const bool by_bytes : {false, true}) {
    const Outcome got = read(text, options, by_bytes);
    EXPECT_EQ(got.thinking, "an END while thinking");
    EXPECT_EQ(got.content, "firstand EN then ");
    EXPECT_EQ(got.calls, 1);
    EXPECT_EQ(got.stop, "END");
  }
}

TEST(ReplyReader, APartOfAStopThatComesToNothingIsShown) {
  const Outcome got = read("almost EN", {.stops = {"END"}}, true);
  EXPECT_EQ(got.content, "almost EN");
  EXPECT_FALSE(got.stop.has_value());
}

TEST(ReplyReader, NoStopSpansACall) {
  const Outcome got = read("E<tool_call>\n<function=now>\n</function>\n</tool_call>ND",
                           {.tools = tools(), .stops = {"END"}}, true);
  EXPECT_EQ(got.content, "END");
  EXPECT_FALSE(got.stop.has_value());
}

TEST(ReplyReader, OneCallIsTheLastThing) {
  const std::string call = "<tool_call>\n<function=now>\n</function>\n</tool_call>\n";
  EXPECT_EQ(read(call + call, {.tools = tools()}, false).calls, 2);
  const Outcome got = read(call + call, {.tools = tools(), .one_call = true}, false);
  EXPECT_EQ(got.calls, 1);
  EXPECT_EQ(got.content, "");
}

TEST(ReplyReader, PlainTextIsContentWhateverItHolds) {
  const std::string text = "<think>a</think> <tool_call>";
  EXPECT_EQ(read(text, {.plain = true, .begins_in_thinking = true, .tools = tools()}, true).content,
            text);
}

}  // namespace
}  // namespace lockstep
