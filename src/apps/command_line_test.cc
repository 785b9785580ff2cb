#include "apps/command_line.h"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep {
namespace {

CommandLine parse(const std::vector<std::string>& arguments) {
  return parse_command_line(arguments);
}

RunArgs run_args(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"run", "tiny"});
  const CommandLine line = parse(arguments);
  EXPECT_EQ(line.error, "");
  return line.command ? std::get<RunArgs>(*line.command) : RunArgs();
}

TEST(CommandLine, RunTakesEveryOption) {
  const RunArgs args = run_args({"--precision",
                                 "full",
                                 "--mtp",
                                 "m",
                                 "--allow-unused",
                                 "--ctx",
                                 "100",
                                 "--threads",
                                 "3",
                                 "--isa",
                                 "scalar",
                                 "--system",
                                 "S",
                                 "--max-tokens",
                                 "7",
                                 "--no-think",
                                 "--temperature",
                                 "0.5",
                                 "--top-k",
                                 "4",
                                 "--top-p",
                                 "0.75",
                                 "--min-p",
                                 "0.25",
                                 "--seed",
                                 "18446744073709551615",
                                 "--json",
                                 "--logprobs",
                                 "20",
                                 "Hello there"});
  EXPECT_EQ(args.model.model, "tiny");
  EXPECT_EQ(args.model.precision, Precision::kFull);
  EXPECT_EQ(args.model.mtp, "m");
  EXPECT_TRUE(args.model.allow_unused);
  EXPECT_EQ(args.model.context, 100);
  EXPECT_EQ(args.model.threads, 3);
  EXPECT_EQ(args.model.isa, Isa::kScalar);
  EXPECT_EQ(args.reply.system, "S");
  EXPECT_EQ(args.reply.max_tokens, 7);
  EXPECT_TRUE(args.reply.no_think);
  EXPECT_EQ(args.reply.sampling.temperature, 0.5);
  EXPECT_EQ(args.reply.sampling.top_k, 4);
  EXPECT_EQ(args.reply.sampling.top_p, 0.75);
  EXPECT_EQ(args.reply.sampling.min_p, 0.25);
  EXPECT_EQ(args.reply.sampling.seed, 18446744073709551615u);
  EXPECT_TRUE(args.json);
  EXPECT_EQ(args.logprobs, 20);
  EXPECT_EQ(args.prompt, "Hello there");
}

TEST(CommandLine, WhatEditsARowIsParsedAndLeavesThePromptAlone) {
  const RunArgs args =
      run_args({"--repetition-penalty", "1.25", "--presence-penalty", "-0.5", "--frequency-penalty",
                "0.75", "--penalty-window", "64", "--logit-bias", "5=1.5,7=-100", "--logit-bias",
                "9=0", "--ban", "3", "--ban", "4,5", "--allow", "8", "Hello"});
  const SamplingArgs& sampling = args.reply.sampling;
  EXPECT_EQ(sampling.repetition_penalty, 1.25);
  EXPECT_EQ(sampling.presence_penalty, -0.5);
  EXPECT_EQ(sampling.frequency_penalty, 0.75);
  EXPECT_EQ(sampling.penalty_window, 64);
  ASSERT_EQ(sampling.logit_bias.size(), 3u);
  EXPECT_EQ(sampling.logit_bias[1].id, 7);
  EXPECT_EQ(sampling.logit_bias[1].bias, -100.0);
  EXPECT_EQ(sampling.banned_tokens, (std::vector<int32_t>{3, 4, 5}));
  EXPECT_EQ(sampling.allowed_tokens, (std::vector<int32_t>{8}));
  EXPECT_EQ(args.prompt, "Hello");
}

TEST(CommandLine, PromptsAreKeptOnDiskWhereAFolderIsNamed) {
  const RunArgs args = run_args({"--cache-dir", "d", "--cache-disk", "3", "Hello"});
  EXPECT_EQ(args.cache.folder, "d");
  EXPECT_EQ(args.cache.gib, 3);
  const CommandLine chat = parse({"chat", "m", "--cache-dir", "d"});
  EXPECT_EQ(std::get<ChatArgs>(*chat.command).cache.folder, "d");
}

TEST(CommandLine, DraftingIsOnOffOrANumber) {
  EXPECT_EQ(run_args({"Hi"}).reply.drafts, kMostDrafts);
  EXPECT_EQ(run_args({"--draft", "on", "Hi"}).reply.drafts, kMostDrafts);
  EXPECT_EQ(run_args({"--draft", "off", "Hi"}).reply.drafts, 0);
  EXPECT_EQ(run_args({"--draft", "3", "Hi"}).reply.drafts, 3);
  EXPECT_EQ(run_args({"--prediction", "f", "Hi"}).prediction, "f");
}

TEST(CommandLine, NothingTypedIsNothingSet) {
  const RunArgs args = run_args({"Hi"});
  EXPECT_EQ(args.model.precision, Precision::kInt8);
  EXPECT_FALSE(args.model.context || args.model.threads || args.model.isa);
  EXPECT_FALSE(args.reply.sampling.temperature || args.reply.sampling.seed);
  EXPECT_FALSE(args.reply.max_tokens || args.reply.system || args.logprobs);
}

TEST(CommandLine, PromptsMayBeDashOddOrEmpty) {
  EXPECT_EQ(run_args({"-"}).prompt, "-");
  EXPECT_EQ(run_args({""}).prompt, "");
  EXPECT_EQ(run_args({"-5"}).prompt, "-5");
  EXPECT_EQ(run_args({"--", "-5 + 3 = ?"}).prompt, "-5 + 3 = ?");
  EXPECT_EQ(run_args({"[a, b] {c} \"d\" 'e' %1 \\n"}).prompt, "[a, b] {c} \"d\" 'e' %1 \\n");
  EXPECT_EQ(run_args({"line\nline"}).prompt, "line\nline");
}

TEST(CommandLine, TheOtherCommandsParse) {
  EXPECT_EQ(std::get<ChatArgs>(*parse({"chat", "m", "--seed", "1"}).command).reply.sampling.seed,
            1u);
  EXPECT_TRUE(std::get<InfoArgs>(*parse({"info", "m", "--json"}).command).json);
  EXPECT_FALSE(std::get<ModelsArgs>(*parse({"models"}).command).json);
  const SynthArgs synth =
      std::get<SynthArgs>(*parse({"synth", "0.8b", "d", "--format", "bf16"}).command);
  EXPECT_EQ(synth.layout, Layout::kHuggingFace);
  EXPECT_EQ(synth.folder, "d");
  const ConvertArgs convert = std::get<ConvertArgs>(
      *parse({"convert", "m", "d", "--to", "mlx", "--bits", "6", "--group-size", "32"}).command);
  EXPECT_EQ(convert.to, Layout::kMlx);
  EXPECT_EQ(convert.affine, (AffineFormat{.bits = 6, .group = 32}));
  const ConvertArgs gguf = std::get<ConvertArgs>(
      *parse({"convert", "m", "d", "--to", "gguf", "--type", "q4_k"}).command);
  EXPECT_EQ(gguf.gguf_type.blocks, BlockType::kQ4_K);
}

TEST(CommandLine, WrongUsageIsOneLineThatNamesIt) {
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
  };
  const std::vector<Case> cases = {
      {{}, "no command"},
      {{"train"}, "\"train\" is not a command; run, chat, serve, info, models, "},
      {{"serve"}, "MODEL is required"},
      {{"serve", "m", "--port", "70000"}, "--port is 70000; it must be from 0 to 65535"},
      {{"serve", "m", "--tls-cert", "c"}, "--tls-cert and --tls-key go together"},
      {{"run"}, "MODEL"},
      {{"run", "tiny"}, "no prompt"},
      {{"run", "tiny", "a", "b"}, "unexpected argument \"b\""},
      {{"run", "tiny", "a", "--frob"}, "unknown flag --frob"},
      {{"run", "tiny", "-x + 3"}, "goes after --"},
      {{"synth", "2b", "d", "--seed", "x"}, "--seed is x"},
      {{"convert", "m", "d"}, "--to is required"},
      {{"convert", "m", "d", "--to", "onnx"}, "--to is onnx; gguf, mlx and bf16 are written"},
      {{"convert", "m", "d", "--to", "gguf", "--type", "q9"}, "there is no type \"q9\""},
      {{"convert", "m", "d", "--to", "gguf", "--bits", "4"}, "--bits and --group-size are for"},
      {{"convert", "m", "d", "--to", "mlx", "--bits", "7"}, "--bits 7 --group-size 64"},
      {{"convert", "m", "d", "--to", "mlx", "--type", "f16"}, "--type is for --to gguf"},
      {{"convert", "m", "d", "--to", "bf16", "--bits", "4"}, "--to bf16 has no"},
      {{"bench", "tiny", "--streams", "1,257"}, "--streams is 257"},
      {{"bench", "tiny", "--depth", "-1"}, "--depth is -1"},
      {{"bench", "tiny", "--prefill", "12,x"}, "x"},
      {{"run", "tiny", "a", "--file", "f"}, "more than one prompt"},
      {{"run", "tiny", "a", "--ids", "f"}, "more than one prompt"},
      {{"run", "tiny", "--ids", "f", "--raw"}, "--raw does not go with --ids"},
      {{"run", "tiny", "a", "--raw", "--system", "s"}, "--system"},
      {{"run", "tiny", "a", "--raw", "--no-think"}, "--no-think"},
      {{"run", "tiny", "a", "--temperature", "-1"}, "temperature is -1"},
      {{"run", "tiny", "a", "--temperature", "nan"}, "temperature"},
      {{"run", "tiny", "a", "--temperature", "hot"}, "--temperature"},
      {{"run", "tiny", "a", "--top-p", "0"}, "top_p is 0"},
      {{"run", "tiny", "a", "--min-p", "2"}, "min_p is 2"},
      {{"run", "tiny", "a", "--top-k", "-1"}, "top_k is -1"},
      {{"run", "tiny", "a", "--repetition-penalty", "0"}, "repetition_penalty is 0"},
      {{"run", "tiny", "a", "--presence-penalty", "101"}, "presence_penalty is 101"},
      {{"run", "tiny", "a", "--frequency-penalty", "-101"}, "frequency_penalty is -101"},
      {{"run", "tiny", "a", "--penalty-window", "-1"}, "penalty_window is -1"},
      {{"run", "tiny", "a", "--logit-bias", "5"}, "--logit-bias is 5"},
      {{"run", "tiny", "a", "--logit-bias", "5=x"}, "--logit-bias is 5=x"},
      {{"run", "tiny", "a", "--logit-bias", "5=1,5=2"}, "logit_bias names token 5"},
      {{"run", "tiny", "a", "--logit-bias", "5=101"}, "logit_bias of token 5 is 101"},
      {{"run", "tiny", "a", "--ban", "2147483648"}, "--ban"},
      {{"run", "tiny", "a", "--allow", "x"}, "--allow"},
      {{"run", "tiny", "a", "--seed", "-1"}, "--seed"},
      {{"run", "tiny", "a", "--seed", "18446744073709551616"}, "--seed"},
      {{"run", "tiny", "a", "--max-tokens", "-1"}, "--max-tokens is -1"},
      {{"run", "tiny", "a", "--ctx", "0"}, "--ctx is 0"},
      {{"run", "tiny", "a", "--threads", "0"}, "--threads is 0"},
      {{"run", "tiny", "a", "--threads", "2048"}, "--threads is 2048"},
      {{"run", "tiny", "a", "--precision", "fp8"}, "--precision fp8"},
      {{"run", "tiny", "a", "--isa", "mmx"}, "--isa mmx"},
      {{"info", "tiny", "--mtp", "m", "--no-mtp"}, "exclude each other"},
      {{"run", "tiny", "a", "--logprobs", "1"}, "--logprobs needs --json"},
      {{"run", "tiny", "a", "--json", "--logprobs", "21"}, "--logprobs is 21"},
      {{"run", "tiny", "a", "--prompt-logprobs", "1"}, "--prompt-logprobs needs --json"},
      {{"run", "tiny", "a", "--json", "--prompt-logprobs", "-1"}, "--prompt-logprobs is -1"},
      {{"run", "tiny", "a", "--cache-disk", "4"}, "--cache-disk needs --cache-dir"},
      {{"chat", "tiny", "--cache-dir", "d", "--cache-disk", "0"}, "--cache-disk is 0"},
      {{"chat", "tiny", "--cache-dir", ""}, "--cache-dir"},
      {{"run", "tiny", "a", "--draft", "9"}, "--draft is 9"},
      {{"run", "tiny", "a", "--draft", "some"}, "--draft is some"},
      {{"run", "tiny", "--batch", "f", "--prediction", "p"}, "--prediction does not go"},
      {{"info", "tiny", "more"}, "unexpected argument"},
      {{"synth", "3b", "d"}, "3b"},
      {{"synth", "2b", "d", "--format", "gguf"}, "gguf"},
      {{"--frob"}, "unknown flag --frob"},
  };
  for (const Case& c : cases) {
    const CommandLine line = parse(c.arguments);
    EXPECT_FALSE(line.command.has_value());
    EXPECT_NE(line.error.find(c.message), std::string::npos) << line.error << " / " << c.message;
    EXPECT_EQ(line.error.find('\n'), std::string::npos) << line.error;
    EXPECT_EQ(line.text, "");
  }
}

TEST(CommandLine, HelpTeachesAndListsOnlyWhatExists) {
  const std::string main = parse({"--help"}).text;
  for (const char* word :
       {"run", "chat", "serve", "info", "models", "synth", "bench", "Exit codes"}) {
    EXPECT_NE(main.find(word), std::string::npos) << word;
  }
  for (const char* word : {"train", "pull"}) {
    EXPECT_EQ(main.find(word), std::string::npos) << word;
  }
  for (const char* command : {"run", "chat", "serve", "info", "synth", "bench"}) {
    EXPECT_NE(parse({command, "--help"}).text.find("Examples:"), std::string::npos) << command;
  }
  EXPECT_TRUE(parse({"--version"}).text.starts_with("lockstep 0."));
}

TEST(CommandLine, APromptMayBeTheNameOfACommand) {
  for (const char* name : {"run", "chat", "info", "models", "synth", "bench"}) {
    EXPECT_EQ(run_args({name}).prompt, name);
    EXPECT_NE(parse({"run", "tiny", "hi", name}).error, "");
    EXPECT_NE(parse({"models", name}).error, "");
  }
}

TEST(CommandLine, NumbersAreDecimalAndWhole) {
  EXPECT_EQ(run_args({"Hi", "--ctx", "64"}).model.context, 64);
  for (const char* text : {"0100", "-010", "0x10", "99999999999999999999", "", "1.5", "7 "}) {
    for (const char* flag : {"--ctx", "--max-tokens", "--top-k", "--threads"}) {
      EXPECT_NE(parse({"run", "tiny", "Hi", flag, text}).error, "") << flag << " " << text;
    }
  }
  EXPECT_NE(parse({"run", "tiny", "Hi", "--temperature", ""}).error, "");
  EXPECT_NE(parse({"run", "tiny", "Hi", "--mtp", ""}).error, "");
}

}  // namespace
}  // namespace lockstep
