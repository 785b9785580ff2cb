#include <fmt/format.h>

#include "apps/command_line/options.h"
#include "apps/help_texts.h"
#include "checkpoint/synth/synth.h"

namespace lockstep {
namespace {

std::string check_synth(SynthArgs& args, const std::string& format) {
  const auto shape = find_synth_shape(args.shape);
  if (!shape.ok()) return shape.error().message;
  const auto layout = parse_synth_format(format);
  if (!layout.ok()) return layout.error().message;
  args.layout = layout.value();
  return check_threads(args.threads);
}

}  // namespace

CommandLine parse_synth(CLI::App& app, std::span<const std::string> arguments) {
  SynthArgs args;
  std::string format = "mlx4";
  std::optional<std::string> seed;
  std::string shapes = "SHAPE is one of:\n";
  for (const SynthShape& shape : synth_shapes()) {
    shapes += fmt::format("  {:<14} {}\n", shape.name, shape.description);
  }
  app.footer(shapes + kSynthHelp);
  app.add_option("SHAPE", args.shape, "Which shape")->required();
  app.add_option("DIR", args.folder, "Folder to write; it must not exist or be empty")->required();
  app.add_option("--format", format, "mlx4 (4 bits, groups of 64; the default) or bf16")
      ->type_name("NAME");
  app.add_option("--seed", seed, "Other weights of the same kind (default: 0)")->type_name("N");
  app.add_option("--threads", args.threads,
                 "Threads (default: what affinity and the cgroup quota allow)")
      ->check(kThreads)
      ->type_name("N");
  return parse_into(app, arguments, args, [&] {
    return first_of({check_seed(seed, args.seed), check_synth(args, format)});
  });
}

}  // namespace lockstep
