#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {

CommandLine parse_info(CLI::App& app, std::span<const std::string> arguments) {
  InfoArgs args;
  RawModel raw;
  app.footer(kInfoHelp);
  add_checkpoint_options(app, args.model, raw);
  app.add_flag("--json", args.json, "Print one JSON object");
  return parse_into(app, arguments, args, [&] { return check_model(args.model, raw); });
}

CommandLine parse_models(CLI::App& app, std::span<const std::string> arguments) {
  ModelsArgs args;
  app.footer(kModelsHelp);
  app.add_flag("--json", args.json, "Print one JSON array");
  return parse_into(app, arguments, args, [] { return std::string(); });
}

}  // namespace lockstep
