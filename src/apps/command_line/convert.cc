#include "checkpoint/convert/convert.h"
#include <fmt/format.h>

#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {
namespace {

// What was typed of the options that belong to one layout.
struct RawConvert {
  std::string to;
  std::optional<std::string> type;
  std::optional<int> bits;
  std::optional<int> group;
};

std::string check_gguf(ConvertArgs& args, const RawConvert& raw) {
  args.to = Layout::kGguf;
  if (raw.bits || raw.group) return "--bits and --group-size are for --to mlx; --type for gguf";
  const auto type = parse_gguf_type(raw.type.value_or("q8_0"));
  if (!type.ok()) return "--type: " + type.error().message;
  args.gguf_type = type.value();
  return {};
}

std::string check_mlx(ConvertArgs& args, const RawConvert& raw) {
  args.to = Layout::kMlx;
  if (raw.type) return "--type is for --to gguf; --bits and --group-size for mlx";
  args.affine.bits = raw.bits.value_or(4);
  args.affine.group = raw.group.value_or(64);
  if (is_valid(args.affine)) return {};
  return fmt::format("--bits {} --group-size {}: bits are 2, 3, 4, 5, 6 or 8, groups 32, 64 or 128",
                     args.affine.bits, args.affine.group);
}

std::string check_convert(ConvertArgs& args, const RawConvert& raw) {
  if (raw.to == "gguf") return check_gguf(args, raw);
  if (raw.to == "mlx") return check_mlx(args, raw);
  if (raw.to != "bf16") return fmt::format("--to is {}; gguf, mlx and bf16 are written", raw.to);
  args.to = Layout::kHuggingFace;
  if (raw.type || raw.bits || raw.group) return "--to bf16 has no type, bits or groups";
  return {};
}

}  // namespace

CommandLine parse_convert(CLI::App& app, std::span<const std::string> arguments) {
  ConvertArgs args;
  RawConvert raw;
  app.footer(kConvertHelp);
  app.add_option("MODEL", args.model.model, "What to convert: any MODEL that runs")
      ->required()
      ->check(kNotEmpty);
  app.add_option("OUT", args.out, "What to write; it must not exist")->required()->check(kNotEmpty);
  app.add_option("--to", raw.to,
                 "Layout: gguf (a file), mlx (a folder) or bf16 (a folder as Hugging Face has it)")
      ->required()
      ->type_name("LAYOUT");
  app.add_option("--bits", raw.bits, "Of the matrices of mlx: 2, 3, 4 (the default), 5, 6 or 8")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--group-size", raw.group, "Of the same: 32, 64 (the default) or 128")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--type", raw.type,
                 "Of the matrices of gguf: f32, f16, bf16, q8_0 (the default), q4_0, q4_k")
      ->type_name("NAME");
  app.add_option("--mtp", args.model.mtp, "Take this draft head along, not the model's own")
      ->type_name("PATH");
  app.add_flag("--no-mtp", args.model.no_mtp, "Leave the draft head out");
  app.add_option("--threads", args.model.threads,
                 "Threads (default: what affinity and the cgroup quota allow)")
      ->check(kThreads)
      ->type_name("N");
  return parse_into(app, arguments, args, [&] {
    while (args.out.size() > 1 && args.out.ends_with('/')) args.out.pop_back();
    return first_of({check_convert(args, raw), check_threads(args.model.threads)});
  });
}

}  // namespace lockstep
