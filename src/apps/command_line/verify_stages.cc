#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {
namespace {

std::string check_stages(const VerifyStagesArgs& args) {
  if (args.compares_dumps()) {
    if (!args.second) return "one dump: a second one is the reference that it is compared with";
    if (args.ids_file || args.dump || args.float64) {
      return "--ids, --dump and --float64 need a model in the place of the first dump";
    }
    return {};
  }
  if (!args.second && !args.ids_file) return "no sequence: give PROMPT, or --ids FILE";
  if (args.second && args.ids_file) return "more than one sequence: PROMPT and --ids";
  if (!args.dump && !args.float64) {
    return "nothing to do: --dump writes the stages, --float64 measures them";
  }
  if (args.float64 && args.dump && args.dump->ends_with(".safetensors")) {
    return "--dump with --float64 writes three files: give a folder";
  }
  return {};
}

std::string check_mtp(const VerifyMtpArgs& args) {
  if (args.model.precision == Precision::kFull) return {};
  return "the goal of a draft head's logits is one of --precision full";
}

}  // namespace

CommandLine parse_verify_stages(CLI::App& app, std::span<const std::string> arguments) {
  VerifyStagesArgs args;
  RawModel raw;
  app.footer(kVerifyStagesHelp);
  add_checkpoint_options(app, args.model, raw);
  app.get_option("MODEL")->description("A model, or the first dump: NAME.safetensors");
  app.add_option("SECOND", args.second, "The prompt, or the dump that is the reference");
  app.add_option("--ids", args.ids_file, "Read token ids from a file, in place of text")
      ->type_name("FILE");
  app.add_option("--positions", args.positions, "Which to keep, as 0,5,10-20,last (default: all)")
      ->type_name("LIST");
  app.add_option("--dump", args.dump, "Write the stages to FILE.safetensors, or into a folder")
      ->check(kNotEmpty)
      ->type_name("PATH");
  app.add_flag("--float64", args.float64, "Compute them in float64 too, and compare");
  add_thread_options(app, args.model, raw);
  app.add_flag("--json", args.json, "Print one JSON object");
  return parse_into(app, arguments, args,
                    [&] { return first_of({check_model(args.model, raw), check_stages(args)}); });
}

CommandLine parse_verify_mtp(CLI::App& app, std::span<const std::string> arguments) {
  VerifyMtpArgs args;
  RawModel raw = {.precision = "full", .isa = {}};
  app.footer(kVerifyMtpHelp);
  add_checkpoint_options(app, args.model, raw);
  app.get_option("--precision")->description("full (the default) is what there is a goal for");
  app.add_option("REFERENCE", args.reference, "A dump of stages, NAME.safetensors")->required();
  add_thread_options(app, args.model, raw);
  app.add_flag("--json", args.json, "Print one JSON object");
  return parse_into(app, arguments, args,
                    [&] { return first_of({check_model(args.model, raw), check_mtp(args)}); });
}

}  // namespace lockstep
