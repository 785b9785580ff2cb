#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {

CommandLine parse_verify_kernels(CLI::App& app, std::span<const std::string> arguments) {
  VerifyKernelsArgs args;
  RawModel raw;
  app.footer(kVerifyKernelsHelp);
  app.add_option("MODEL", args.model.model, "A model folder, or the name of an embedded model")
      ->check(kNotEmpty);
  app.add_option("--shape", args.shape, "The shapes of a released model, without its weights")
      ->check(kNotEmpty)
      ->type_name("NAME");
  app.add_option("--only", args.only, "Only kernels whose line of the table holds NAME")
      ->check(kNotEmpty)
      ->type_name("NAME");
  app.add_flag("--json", args.json, "Print one JSON object at the end, nothing before");
  return parse_into(app, arguments, args, [&] {
    const bool one = args.model.model.empty() != args.shape.empty();
    return std::string(one ? "" : "give a MODEL or --shape NAME, one of the two");
  });
}

}  // namespace lockstep
