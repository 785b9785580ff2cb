// What the command lines of several commands share. Only the files of this folder see CLI11: its
// header takes longer to compile than the rest of the module.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/command_line.h"

namespace lockstep {

// Each declares its options in `app` and takes what was typed after the command's name.
CommandLine parse_run(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_chat(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_serve(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_info(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_models(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_synth(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_convert(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_bench(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_verify_exact(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_verify_kernels(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_eval(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_verify_stages(CLI::App& app, std::span<const std::string> arguments);
CommandLine parse_verify_mtp(CLI::App& app, std::span<const std::string> arguments);

// Stricter than CLI11, which reads "010" as 8, stops at the largest number that fits and takes ""
// for an absent option.
extern const CLI::Validator kWhole;
extern const CLI::Validator kThreads;
extern const CLI::Validator kTokenId;
extern const CLI::Validator kReal;
extern const CLI::Validator kNotEmpty;

// Model options as CLI11 fills them, before the checks that it cannot do.
struct RawModel {
  std::string precision = "int8";
  std::optional<std::string> isa;
};

// Reply options that CLI11 cannot read: it would take -1 for the seed 2^64 - 1.
struct RawReply {
  std::optional<std::string> seed;
  std::vector<std::string> logit_bias;  // "ID=BIAS"
  std::string draft = "on";
};

void add_checkpoint_options(CLI::App& app, ModelArgs& args, RawModel& raw);
void add_thread_options(CLI::App& app, ModelArgs& args, RawModel& raw);
void add_context_option(CLI::App& app, ModelArgs& args);
void add_cache_options(CLI::App& app, CacheArgs& args);
void add_reply_options(CLI::App& app, ReplyArgs& args, RawReply& raw);

// Each returns what is wrong, empty if nothing is, and fills in what it decoded.
std::string check_model(ModelArgs& args, const RawModel& raw);
std::string check_threads(const std::optional<int>& threads);
std::string check_seed(const std::optional<std::string>& typed, std::optional<uint64_t>& seed);
std::string check_cache(const CacheArgs& args);
std::string check_reply(ReplyArgs& args, const RawReply& raw);
// The first of several that is not empty.
std::string first_of(std::initializer_list<std::string> findings);

// --help, --version and CLI11's own findings as text or error; neither if all went well.
CommandLine parse_with(CLI::App& app, std::span<const std::string> arguments);

// Parses into `args`, to which the options of `app` are bound; `check` says what is wrong with it.
template <typename Args, typename Check>
CommandLine parse_into(CLI::App& app, std::span<const std::string> arguments, Args& args,
                       const Check& check) {
  CommandLine line = parse_with(app, arguments);
  if (!line.text.empty() || !line.error.empty()) return line;
  line.error = check();
  if (line.error.empty()) line.command = std::move(args);
  return line;
}

}  // namespace lockstep
