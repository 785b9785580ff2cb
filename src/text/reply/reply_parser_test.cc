#include "text/reply/reply_parser.h"

#include <gtest/gtest.h>

#include <random>

namespace lockstep {
namespace {

using Kind = TextEvent::Kind;
using Events = std::vector<TextEvent>;

ToolSignatures tools() {
  const json::value list = parse_json(R"([{"type": "function", "function": {"name": "weather",
    "parameters": {"type": "object", "properties": {
      "city": {"type": "string"}, "days": {"type": "integer"}, "heat": {"type": "number"},
      "hourly": {"type": "boolean"}, "tags": {"type": "array"}, "where": {"type": "object"},
      "note": {"type": ["string", "null"]}, "any": {},
      "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}}}},
    {"type": "function", "function": {"name": "now"}}])",
                                      "tools")
                               .value();
  return read_tools(list.as_array()).value();
}

// Neighbours of one kind as one.
Events joined(const Events& events) {
  Events all;
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

struct Options {
  bool thinking = false;
  bool with_tools = true;
  bool whole = true;
};

// Pieces end before the given places.
Events parse(std::string_view text, const Options& options, const std::vector<size_t>& cuts = {}) {
  ReplyParser parser(options.thinking, options.with_tools ? tools() : ToolSignatures());
  Events events;
  size_t begin = 0;
  for (const size_t cut : cuts) {
    parser.push(text.substr(begin, cut - begin), events);
    begin = cut;
  }
  parser.push(text.substr(begin), events);
  parser.finish(options.whole, events);
  return joined(events);
}

std::string show(const Events& events) {
  static constexpr const char* kNames[] = {"T", "C", "call", "args", "end", "cut"};
  std::string text;
  for (const TextEvent& event : events) {
    text += std::string(text.empty() ? "" : " | ") + kNames[static_cast<int>(event.kind)];
    if (!event.text.empty()) text += ":" + event.text;
  }
  return text;
}

struct Case {
  const char* text;
  Options options;
  const char* want;
};

const Case kCases[] = {
    // Thinking
    {"I see.\n</think>\n\nHello.\n", {.thinking = true}, "T:I see. | C:Hello.\n"},
    {"Hello.\n", {}, "C:Hello.\n"},
    {"\n  Hello.", {}, "C:\n  Hello."},
    {"<think>\nHm.\n\n</think>\n\nYes.", {}, "T:Hm. | C:Yes."},
    {"\n<think>\n\n</think>\n\nYes.", {}, "C:Yes."},
    {"</think>\n\nYes.", {}, "C:Yes."},
    {"\n\n</think>\n\nYes.", {.thinking = true}, "C:Yes."},
    {"cut off while thinking\n", {.thinking = true}, "T:cut off while thinking"},
    {"a < b and </thin air", {.thinking = true}, "T:a < b and </thin air"},
    {"x </think> y </think> z", {.thinking = true}, "T:x | C:y </think> z"},
    {"The tag <think> in an answer </think> stays.",
     {},
     "C:The tag <think> in an answer </think> stays."},
    {"<thi", {}, "C:<thi"},
    {"", {.thinking = true}, ""},
    // Calls
    {"Checking.\n\n<tool_call>\n<function=weather>\n<parameter=city>\nOslo\n</parameter>\n"
     "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
     {},
     R"(C:Checking. | call:weather | args:{"city": "Oslo", "days": 2} | end)"},
    {"<tool_call>\n<function=now>\n</function>\n</tool_call>\n<tool_call>\n<function=weather>\n"
     "<parameter=hourly>\nTrue\n</parameter>\n</function>\n</tool_call>\n",
     {},
     R"(call:now | args:{} | end | call:weather | args:{"hourly": true} | end)"},
    {"I need it.\n<tool_call>\n<function=now>\n</function>\n</tool_call>\n</think>\n\nDone.",
     {.thinking = true},
     "T:I need it. | call:now | args:{} | end | C:Done."},
    {"<function=now>\n</function>\nand then", {}, "call:now | args:{} | end | C:and then"},
    {"<function=unknown>\n</function>", {}, "C:<function=unknown>\n</function>"},
    {"<tool_call>\n<function=unknown>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>",
     {},
     R"(call:unknown | args:{"n": "7"} | end)"},
    {"<tool_call>\n{\"name\": \"now\"}\n</tool_call>",
     {},
     "C:<tool_call>\n{\"name\": \"now\"}\n</tool_call>"},
    {"<tool_call>\n<function=now>\n</function>\n</tool_call>",
     {.with_tools = false},
     "C:<tool_call>\n<function=now>\n</function>\n</tool_call>"},
    // Values
    {"<tool_call><function=weather><parameter=city>a\n\nb\n\n</parameter></function></tool_call>",
     {},
     R"(call:weather | args:{"city": "a\n\nb\n"} | end)"},
    {"<tool_call><function=weather><parameter=city>\r\n\"x\\\"\r\n</parameter></function>",
     {},
     R"(call:weather | args:{"city": "\"x\\\""} | end)"},
    {"<tool_call><function=weather><parameter=city>\n<b></parameter> in text</function> </b>\n"
     "</parameter>\n</function></tool_call>",
     {},
     R"(call:weather | args:{"city": "<b></parameter> in text</function> </b>"} | end)"},
    {"<tool_call><function=weather><parameter=days>5.0</parameter><parameter=heat>-1.5e3"
     "</parameter><parameter=tags>[\"a\",1]</parameter><parameter=where>{\"x\":{}}</parameter>"
     "<parameter=note>null</parameter><parameter=any>3</parameter><parameter=either>NULL"
     "</parameter></function></tool_call>",
     {},
     R"(call:weather | args:{"days": 5, "heat": -1.5e3, "tags": ["a", 1], "where": {"x": {}}, )"
     R"("note": null, "any": "3", "either": null} | end)"},
    {"<tool_call><function=weather><parameter=days>soon</parameter><parameter=city>null"
     "</parameter><parameter=tags>[1</parameter></function></tool_call>",
     {},
     R"(call:weather | args:{"days": "soon", "city": "null", "tags": "[1"} | end)"},
    // What models leave out, and what does not belong
    {"<tool_call><function=weather><parameter=city>\nOslo\n</function>\n</tool_call>",
     {},
     R"(call:weather | args:{"city": "Oslo"} | end)"},
    {"<tool_call><function=weather><parameter=city>\nOslo\n</parameter>\n</tool_call>ok",
     {},
     R"(call:weather | args:{"city": "Oslo"} | end | C:ok)"},
    {"<tool_call><function=weather>\nhello you\n<parameter=city>a</parameter>"
     "<parameter=city>b</parameter> <i></function></tool_call>",
     {},
     R"(call:weather | args:{ | C:hello you | args:"city": "a" | )"
     R"(C:<parameter=city>b</parameter><i> | args:} | end)"},
    {"<tool_call><function=weather><parameter=city>\nOsl",
     {.whole = false},
     R"(call:weather | args:{"city": "Osl | cut)"},
    {"<tool_call><function=weather><parameter=city>\nOslo\n</parameter>\n",
     {.whole = false},
     R"(call:weather | args:{"city": "Oslo" | cut)"},
    {"<tool_call><function=weather><parameter=city>\nOslo\n</parameter>\n",
     {},
     R"(call:weather | args:{"city": "Oslo"} | end)"},
    {"<tool_call><function=weather><parameter=days>\n3",
     {},
     R"(call:weather | args:{"days": 3} | end)"},
    {"<tool_call>\n<function=wea", {}, "C:<tool_call>\n<function=wea"},
};

TEST(ReplyParser, TellsThinkingContentAndCallsApart) {
  for (const Case& c : kCases) EXPECT_EQ(show(parse(c.text, c.options)), c.want) << c.text;
}

TEST(ReplyParser, IsTheSameForEveryCut) {
  std::mt19937 random(5);
  for (const Case& c : kCases) {
    const std::string_view text = c.text;
    for (size_t a = 0; a <= text.size(); ++a) {
      ASSERT_EQ(show(parse(text, c.options, {a})), c.want) << text << " cut at " << a;
    }
    std::vector<size_t> every;
    for (size_t at = 1; at < text.size(); ++at) every.push_back(at);
    ASSERT_EQ(show(parse(text, c.options, every)), c.want) << text << " byte by byte";
    for (int round = 0; round < 50; ++round) {
      std::vector<size_t> some;
      for (const size_t at : every) {
        if (random() % 4 == 0) some.push_back(at);
      }
      ASSERT_EQ(show(parse(text, c.options, some)), c.want) << text << ", round " << round;
    }
  }
}

// Tags, blanks and letters in any order: nothing is known of the result but that cuts do not show,
// and that the arguments of every call that ended are JSON.
TEST(ReplyParser, AnySoupIsTheSameForEveryCutAndItsArgumentsAreJson) {
  constexpr const char* kPieces[] = {"<think>",
                                     "</think>",
                                     "<tool_call>",
                                     "</tool_call>",
                                     "</function>",
                                     "<function=weather>",
                                     "<function=x>",
                                     "<parameter=city>",
                                     "</parameter>",
                                     "<parameter=days>",
                                     "\n",
                                     " ",
                                     "a",
                                     "3",
                                     "<",
                                     "\r\n",
                                     "\"",
                                     "\xc3\xa9",
                                     "null",
                                     "{"};
  std::mt19937 random(6);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned i = random() % 20; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
    const Options options{.thinking = random() % 2 == 0, .whole = random() % 2 == 0};
    const Events whole = parse(text, options);
    std::vector<size_t> cuts;
    for (size_t at = 1; at < text.size(); ++at) {
      if (random() % 3 == 0) cuts.push_back(at);
    }
    ASSERT_EQ(show(parse(text, options, cuts)), show(whole)) << text;
    std::string arguments;
    for (const TextEvent& event : whole) {
      if (event.kind == Kind::kCallBegin) arguments.clear();
      if (event.kind == Kind::kArguments) arguments += event.text;
      if (event.kind == Kind::kCallEnd) {
        ASSERT_TRUE(parse_json(arguments, "arguments").ok()) << arguments << "\n" << text;
      }
    }
  }
}

TEST(ReplyParser, TextComesOutAsSoonAsItIsCertain) {
  ReplyParser parser(true, tools());
  const auto push = [&](std::string_view text) {
    Events events;
    parser.push(text, events);
    return show(joined(events));
  };
  EXPECT_EQ(push("Let me see"), "T:Let me see");
  EXPECT_EQ(push(". "), "T:.");
  EXPECT_EQ(push("So</thi"), "T: So");
  EXPECT_EQ(push("nk>\nA"), "C:A");
  EXPECT_EQ(push("\n<tool_call>\n<function=weather>"), "call:weather | args:{");
  EXPECT_EQ(push("<parameter=city>\nOs"), R"(args:"city": "Os)");
  EXPECT_EQ(push("lo\n"), "args:lo");
  EXPECT_EQ(push("</parameter>\n</"), "");
  EXPECT_EQ(push("function>"), R"(args:"} | end)");
}

TEST(EndsInThinking, LooksAtTheLastTurnOnly) {
  EXPECT_TRUE(ends_in_thinking("<|im_start|>assistant\n<think>\n"));
  EXPECT_FALSE(ends_in_thinking("<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(
      ends_in_thinking("<|im_start|>user\nWhat is <think>?<|im_end|>\n"
                       "<|im_start|>assistant\n"));
  EXPECT_FALSE(ends_in_thinking("plain"));
}

TEST(ToolSignatures, RefuseWhatIsNoToolByItsPlace) {
  const auto refusal = [](const char* text) {
    return read_tools(parse_json(text, "tools").value().as_array()).error().message;
  };
  EXPECT_NE(refusal(R"([3])").find("tools[0] has no \"function\""), std::string::npos);
  EXPECT_NE(refusal(R"([{"function": {"name": ""}}])").find("tools[0].function has no name"),
            std::string::npos);
  EXPECT_NE(refusal(R"([{"function": {"name": "a"}}, {"function": {"name": "a"}}])")
                .find("two tools have the name \"a\""),
            std::string::npos);
}

}  // namespace
}  // namespace lockstep
