#include <fmt/format.h>

#include "apps/command_line/options.h"
#include "apps/help_texts.h"
#include "sampling/logprobs.h"

namespace lockstep {
namespace {

constexpr int64_t kMostParallel = 64;

// A line of the file says for itself what the other flags say for one prompt.
std::string check_batch(const RunArgs& args) {
  if (args.raw) return "--raw does not go with --batch: a line says \"raw\": true";
  if (args.json) return "--json does not go with --batch: its output is JSON anyway";
  if (args.logprobs) return "--logprobs does not go with --batch: a line says \"logprobs\": N";
  if (args.prediction) {
    return "--prediction does not go with --batch: a line says \"prediction\": TEXT";
  }
  if (args.prompt_logprobs) {
    return "--prompt-logprobs does not go with --batch: a line says \"prompt_logprobs\": N";
  }
  if (args.parallel && (*args.parallel < 1 || *args.parallel > kMostParallel)) {
    return fmt::format("--parallel is {}; it must be from 1 to {}", *args.parallel, kMostParallel);
  }
  return {};
}

std::string check_logprobs(const char* flag, std::optional<int64_t> count, bool json) {
  if (!count) return {};
  if (!json) return fmt::format("{} needs --json: text has no place for them", flag);
  if (*count >= 0 && *count <= kMaxTopLogprobs) return {};
  return fmt::format("{} is {}; it must be from 0 to {}", flag, *count, kMaxTopLogprobs);
}

std::string check_run(const RunArgs& args) {
  const int sources = args.prompt.has_value() + args.file.has_value() + args.ids_file.has_value() +
                      args.batch.has_value();
  if (sources == 0) {
    return "no prompt: give it as an argument, by --file FILE, by --ids FILE, or - for standard "
           "input; --batch FILE answers many";
  }
  if (sources > 1) {
    return "more than one prompt: PROMPT, --file, --ids and --batch exclude each other";
  }
  if (args.batch) return check_batch(args);
  if (args.parallel) return "--parallel needs --batch: one prompt is answered alone";
  const bool templated = !args.raw && !args.ids_file;
  if (!templated && args.reply.system) {
    return "--system needs the chat template: it does not go with --raw or --ids";
  }
  if (!templated && args.reply.no_think) {
    return "--no-think needs the chat template: it does not go with --raw or --ids";
  }
  if (args.raw && args.ids_file) return "--raw does not go with --ids: ids know no template";
  return first_of({check_logprobs("--logprobs", args.logprobs, args.json),
                   check_logprobs("--prompt-logprobs", args.prompt_logprobs, args.json)});
}

}  // namespace

CommandLine parse_run(CLI::App& app, std::span<const std::string> arguments) {
  RunArgs args;
  RawModel raw;
  RawReply raw_reply;
  app.footer(kRunHelp);
  add_checkpoint_options(app, args.model, raw);
  app.add_option("PROMPT", args.prompt, "The prompt; - reads standard input");
  app.add_option("--file", args.file, "Read the prompt from a file")->type_name("FILE");
  app.add_option("--ids", args.ids_file, "Read token ids from a file, in place of text")
      ->type_name("FILE");
  app.add_option("--batch", args.batch,
                 "Answer every line of a file of JSON objects; - reads standard input")
      ->check(kNotEmpty)
      ->type_name("FILE");
  app.add_option("--parallel", args.parallel, "With --batch: lines answered at once (default: 4)")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--prediction", args.prediction,
                 "A file that the reply will be like: it comes faster where it is")
      ->type_name("FILE");
  app.add_flag("--raw", args.raw, "Continue the prompt as it stands, without chat template");
  add_context_option(app, args.model);
  add_thread_options(app, args.model, raw);
  add_cache_options(app, args.cache);
  add_reply_options(app, args.reply, raw_reply);
  app.add_flag("--json", args.json, "Print one JSON object at the end, nothing before");
  app.add_option("--logprobs", args.logprobs,
                 "With --json: log-probabilities, with the N likeliest (0 to 20)")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--prompt-logprobs", args.prompt_logprobs,
                 "With --json: the same of the prompt's own tokens")
      ->check(kWhole)
      ->type_name("N");
  return parse_into(app, arguments, args, [&] {
    return first_of({check_model(args.model, raw), check_cache(args.cache),
                     check_reply(args.reply, raw_reply), check_run(args)});
  });
}

}  // namespace lockstep
