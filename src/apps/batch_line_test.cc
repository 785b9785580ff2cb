#include "apps/batch_line.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::string refusal(std::string_view text) {
  const auto line = parse_batch_line(text, {}, "line 7");
  return line.ok() ? "it was taken" : line.error().message;
}

TEST(BatchLine, TakesEverySetting) {
  const BatchLine line =
      parse_batch_line(R"({"id": {"a": 1}, "prompt": "p", "system": "s", "no_think": true,
                           "max_tokens": 5, "n": 2, "logprobs": 3, "prompt_logprobs": 1, "draft": 2, "prediction": "P", "temperature": 0, "top_k": 4,
                           "top_p": 0.5, "min_p": 0.25, "seed": 18446744073709551615})",
                       {}, "line 1")
          .value();
  EXPECT_EQ(dump_json(line.id), R"({"a": 1})");
  EXPECT_EQ(line.prompt, "p");
  EXPECT_EQ(line.reply.system, "s");
  EXPECT_TRUE(line.reply.no_think);
  EXPECT_EQ(line.reply.max_tokens, 5);
  EXPECT_EQ(line.replies, 2);
  EXPECT_EQ(line.logprobs, 3);
  EXPECT_EQ(line.prompt_logprobs, 1);
  EXPECT_EQ(line.reply.drafts, 2);
  EXPECT_EQ(line.prediction, "P");
  EXPECT_EQ(line.reply.sampling.temperature, 0.0);
  EXPECT_EQ(line.reply.sampling.top_k, 4);
  EXPECT_EQ(line.reply.sampling.top_p, 0.5);
  EXPECT_EQ(line.reply.sampling.min_p, 0.25);
  EXPECT_EQ(line.reply.sampling.seed, UINT64_MAX);
}

TEST(BatchLine, TakesEditsOfTheLogits) {
  const BatchLine line =
      parse_batch_line(R"({"ids": [1], "logit_bias": {"7": -2.5, "9": 1}, "banned_tokens": [3],
                           "allowed_tokens": [4, 5], "repetition_penalty": 1.5,
                           "presence_penalty": 0.5, "frequency_penalty": -1, "penalty_window": 64})",
                       {}, "line 1")
          .value();
  const SamplingArgs& sampling = line.reply.sampling;
  ASSERT_EQ(sampling.logit_bias.size(), 2u);
  EXPECT_EQ(sampling.logit_bias[0].id, 7);
  EXPECT_EQ(sampling.logit_bias[0].bias, -2.5);
  EXPECT_EQ(sampling.banned_tokens, (std::vector<int32_t>{3}));
  EXPECT_EQ(sampling.allowed_tokens, (std::vector<int32_t>{4, 5}));
  EXPECT_EQ(sampling.repetition_penalty, 1.5);
  EXPECT_EQ(sampling.presence_penalty, 0.5);
  EXPECT_EQ(sampling.frequency_penalty, -1.0);
  EXPECT_EQ(sampling.penalty_window, 64);
  EXPECT_NE(refusal(R"({"ids": [1], "logit_bias": {"x": 1}})").find("logit_bias"),
            std::string::npos);
}

TEST(BatchLine, WhatItDoesNotSayComesFromTheCommandLine) {
  ReplyArgs defaults;
  defaults.max_tokens = 9;
  defaults.system = "be brief";
  const BatchLine line = parse_batch_line(R"({"ids": [1, 2]})", defaults, "line 1").value();
  EXPECT_EQ(line.reply.max_tokens, 9);
  EXPECT_EQ(line.ids, (std::vector<int32_t>{1, 2}));
}

TEST(BatchLine, TakesMessages) {
  const BatchLine line = parse_batch_line(R"({"messages": [{"role": "user", "content": "a"},
                           {"role": "assistant", "content": "b", "reasoning_content": "c"},
                           {"role": "user", "content": "d"}]})",
                                          {}, "line 1")
                             .value();
  ASSERT_EQ(line.messages.size(), 3u);
  EXPECT_EQ(line.messages[1].role, "assistant");
  EXPECT_EQ(line.messages[1].thinking, "c");
}

TEST(BatchLine, RefusesByNameAndLine) {
  EXPECT_EQ(refusal("[1]"), "line 7 is not a JSON object");
  EXPECT_EQ(refusal("{}"), R"(line 7: no prompt: give one of "prompt", "messages" and "ids")");
  EXPECT_EQ(refusal(R"({"prompt": "a", "ids": [1]})"),
            R"(line 7: more than one prompt: give one of "prompt", "messages" and "ids")");
  EXPECT_EQ(refusal(R"({"prompt": 5})"), R"(line 7: "prompt" must be a string)");
  EXPECT_EQ(refusal(R"({"ids": [1, -2]})"), R"(line 7: "ids" must be a list of token ids)");
  EXPECT_EQ(refusal(R"({"ids": [1.5]})"), R"(line 7: "ids" must be a list of token ids)");
  EXPECT_EQ(refusal(R"({"prompt": "a", "max_tokens": "5"})"),
            R"(line 7: "max_tokens" must be a whole number)");
  EXPECT_EQ(refusal(R"({"ids": [1], "system": "s"})"),
            R"(line 7: "system" goes with a "prompt" that is not raw)");
  EXPECT_EQ(refusal(R"({"ids": [1], "raw": true})"), R"(line 7: "raw" goes with "prompt" only)");
  EXPECT_NE(refusal(R"({"prompt": "a", "max_token": 5})").find("\"max_token\" is not known"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"messages": [{"role": "user", "text": "a"}]})").find("\"text\""),
            std::string::npos);
  EXPECT_NE(refusal(R"({"prompt": "a")").find("line 7"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
