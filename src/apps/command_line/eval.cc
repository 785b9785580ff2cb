#include <fmt/format.h>

#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {
namespace {

std::string check_eval(EvalArgs& args, const std::string& against) {
  if (args.window < 2) return fmt::format("--window is {}; it must be at least 2", args.window);
  if (args.stride < 1 || args.stride >= args.window) {
    return fmt::format("--stride is {}; it must be from 1 to {}, one less than the window",
                       args.stride, args.window - 1);
  }
  if (against.empty()) return {};
  args.against = parse_precision(against);
  if (!args.against) {
    return fmt::format("--against {} is not known; int8 and full are", against);
  }
  if (*args.against == args.model.precision) {
    return fmt::format("--against {} is the precision itself", against);
  }
  return {};
}

}  // namespace

CommandLine parse_eval(CLI::App& app, std::span<const std::string> arguments) {
  EvalArgs args;
  RawModel raw;
  std::string against;
  app.footer(kEvalHelp);
  add_checkpoint_options(app, args.model, raw);
  app.add_option("FILE", args.file, "A text")->required();
  app.add_option("--window", args.window, "Most tokens that are read together (default: 512)")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--stride", args.stride, "Tokens from one window to the next (default: 256)")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--against", against, "A second precision, whose distribution is the reference")
      ->type_name("NAME");
  add_thread_options(app, args.model, raw);
  app.add_flag("--json", args.json, "Print one JSON object");
  return parse_into(app, arguments, args, [&] {
    return first_of({check_model(args.model, raw), check_eval(args, against)});
  });
}

}  // namespace lockstep
