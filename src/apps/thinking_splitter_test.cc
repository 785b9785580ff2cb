#include "apps/thinking_splitter.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep {
namespace {

ReplyText split(std::string_view text, bool begins_in_thinking, size_t piece) {
  ThinkingSplitter splitter(begins_in_thinking);
  ReplyText all;
  const auto keep = [&](const ReplyText& part) {
    all.thinking += part.thinking;
    all.answer += part.answer;
  };
  for (size_t at = 0; at < text.size(); at += piece) keep(splitter.push(text.substr(at, piece)));
  keep(splitter.finish());
  return all;
}

struct Case {
  const char* text;
  bool begins_in_thinking;
  const char* thinking;
  const char* answer;
};

const std::vector<Case> kCases = {
    {"I see.\n</think>\n\nHello.\n", true, "I see.", "Hello.\n"},
    {"Hello.\n", false, "", "Hello.\n"},
    {"\n  Hello.", false, "", "\n  Hello."},
    {"<think>\nHm.\n\n</think>\n\nYes.", false, "Hm.", "Yes."},
    {"\n<think>\n\n</think>\n\nYes.", false, "", "Yes."},
    {"</think>\n\nYes.", false, "", "Yes."},
    {"\n\n</think>\n\nYes.", true, "", "Yes."},
    {"cut off while thinking\n", true, "cut off while thinking", ""},
    {"a < b and </thin air", true, "a < b and </thin air", ""},
    {"one\n\n  two </think> three", true, "one\n\n  two", "three"},
    {"x </think> y </think> z", true, "x", "y </think> z"},
    {"The tag <think> in an answer </think> stays.", false, "",
     "The tag <think> in an answer </think> stays."},
    {"<thinking>", false, "", "<thinking>"},
    {"<thi", false, "", "<thi"},
    {"", true, "", ""},
    {"", false, "", ""},
};

TEST(ThinkingSplitter, IsTheSameForEveryCut) {
  for (const Case& c : kCases) {
    for (size_t piece = 1; piece < 50; ++piece) {
      const ReplyText got = split(c.text, c.begins_in_thinking, piece);
      ASSERT_EQ(got.thinking, c.thinking) << c.text << " in pieces of " << piece;
      ASSERT_EQ(got.answer, c.answer) << c.text << " in pieces of " << piece;
    }
  }
}

TEST(ThinkingSplitter, TextComesOutAsSoonAsItIsCertain) {
  ThinkingSplitter splitter(true);
  EXPECT_EQ(splitter.push("Let me see").thinking, "Let me see");
  EXPECT_EQ(splitter.push(". ").thinking, ".");
  EXPECT_EQ(splitter.push("So").thinking, " So");
  EXPECT_EQ(splitter.push("</thi").thinking, "");
  EXPECT_EQ(splitter.push("nk>\nA").answer, "A");
  EXPECT_EQ(splitter.push("\n").answer, "\n");
}

TEST(EndsInThinking, LooksAtTheLastTurnOnly) {
  EXPECT_TRUE(ends_in_thinking("<|im_start|>assistant\n<think>\n"));
  EXPECT_FALSE(ends_in_thinking("<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(
      ends_in_thinking("<|im_start|>user\nWhat is <think>?<|im_end|>\n"
                       "<|im_start|>assistant\n"));
  EXPECT_FALSE(ends_in_thinking("plain"));
}

}  // namespace
}  // namespace lockstep
