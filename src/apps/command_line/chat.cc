#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {

CommandLine parse_chat(CLI::App& app, std::span<const std::string> arguments) {
  ChatArgs args;
  RawModel raw;
  std::optional<std::string> seed;
  app.footer(kChatHelp);
  add_checkpoint_options(app, args.model, raw);
  add_context_option(app, args.model);
  add_thread_options(app, args.model, raw);
  add_reply_options(app, args.reply, seed);
  return parse_into(app, arguments, args, [&] {
    return first_of({check_model(args.model, raw), check_seed(seed, args.reply.sampling.seed),
                     check_reply(args.reply)});
  });
}

}  // namespace lockstep
