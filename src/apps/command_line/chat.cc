#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {

CommandLine parse_chat(CLI::App& app, std::span<const std::string> arguments) {
  ChatArgs args;
  RawModel raw;
  RawReply raw_reply;
  app.footer(kChatHelp);
  add_checkpoint_options(app, args.model, raw);
  add_context_option(app, args.model);
  add_thread_options(app, args.model, raw);
  add_cache_options(app, args.cache);
  add_reply_options(app, args.reply, raw_reply);
  return parse_into(app, arguments, args, [&] {
    return first_of({check_model(args.model, raw), check_cache(args.cache),
                     check_reply(args.reply, raw_reply)});
  });
}

}  // namespace lockstep
