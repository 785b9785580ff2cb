#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {

CommandLine parse_verify_exact(CLI::App& app, std::span<const std::string> arguments) {
  VerifyExactArgs args;
  RawModel raw;
  app.footer(kVerifyExactHelp);
  add_checkpoint_options(app, args.model, raw);
  app.add_option("--prompts", args.prompts, "Use these prompts, one a line (default: built in)")
      ->check(kNotEmpty)
      ->type_name("FILE");
  app.add_flag("--quick", args.quick, "The beginnings of the prompts, and few cases of each kind");
  add_thread_options(app, args.model, raw);
  app.add_flag("--json", args.json, "Print one JSON object at the end, nothing before");
  return parse_into(app, arguments, args, [&] { return check_model(args.model, raw); });
}

}  // namespace lockstep
