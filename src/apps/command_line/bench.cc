#include <fmt/format.h>

#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {
namespace {

constexpr int64_t kMostStreams = 256;
constexpr int64_t kMostChunk = 4096;

std::string check_range(const char* flag, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return {};
  return fmt::format("{} is {}; it must be from {} to {}", flag, value, least, most);
}

std::string check_bench(const BenchArgs& args) {
  constexpr int64_t kMostPositions = int64_t{1} << 24;
  std::string wrong = first_of({check_range("--tokens", args.tokens, 1, kMostPositions),
                                check_range("--repeat", args.repeat, 1, 1000),
                                check_range("--chunk", args.chunk, 1, kMostChunk)});
  for (const int64_t length : args.prefill) {
    wrong = first_of({wrong, check_range("--prefill", length, 1, kMostPositions)});
  }
  for (const int64_t depth : args.depths) {
    wrong = first_of({wrong, check_range("--depth", depth, 0, kMostPositions)});
  }
  for (const int64_t streams : args.streams) {
    wrong = first_of({wrong, check_range("--streams", streams, 1, kMostStreams)});
  }
  return wrong;
}

void add_list(CLI::App& app, const char* flag, std::vector<int64_t>& values,
              const char* description) {
  app.add_option(flag, values, description)->delimiter(',')->check(kWhole)->type_name("N,...");
}

}  // namespace

CommandLine parse_bench(CLI::App& app, std::span<const std::string> arguments) {
  BenchArgs args;
  RawModel raw;
  app.footer(kBenchHelp);
  add_checkpoint_options(app, args.model, raw);
  add_thread_options(app, args.model, raw);
  add_list(app, "--prefill", args.prefill, "Lengths of prompts (default: 512)");
  add_list(app, "--depth", args.depths, "Positions before the decoded tokens (default: 0)");
  add_list(app, "--streams", args.streams, "Sequences decoded together (default: 1)");
  app.add_option("--tokens", args.tokens, "Tokens that each stream decodes at a time (default: 32)")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--repeat", args.repeat, "Measurements of each case (default: 5)")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--chunk", args.chunk, "Prompt rows of one forward pass (default: 128)")
      ->check(kWhole)
      ->type_name("N");
  app.add_flag("--roofline", args.roofline, "Measure the read bandwidth and decode's share of it");
  app.add_flag("--json", args.json, "Print one JSON object");
  return parse_into(app, arguments, args,
                    [&] { return first_of({check_model(args.model, raw), check_bench(args)}); });
}

}  // namespace lockstep
