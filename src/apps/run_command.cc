#include <fmt/format.h>

#include "apps/batch_command.h"
#include "apps/chat_prompt.h"
#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/figures.h"
#include "apps/model_path.h"
#include "apps/prompt_source.h"
#include "apps/reply.h"
#include "apps/run_json.h"
#include "apps/sampling_choice.h"
#include "apps/start_report.h"

namespace lockstep {
namespace {

// What the command line gives, read before the model is: a bad prompt should not wait for it.
struct Input {
  std::string text;
  std::vector<int32_t> ids;  // with --ids
  std::string prediction;
};

Result<Input> read_input(const RunArgs& args) {
  Input input;
  if (args.ids_file) {
    LOCKSTEP_ASSIGN_OR_RETURN(input.ids, read_ids_file(*args.ids_file));
  } else if (args.file) {
    LOCKSTEP_ASSIGN_OR_RETURN(input.text, read_prompt_file(*args.file));
  } else if (*args.prompt == "-") {
    LOCKSTEP_ASSIGN_OR_RETURN(input.text, read_standard_input());
  } else {
    LOCKSTEP_RETURN_IF_ERROR(check_prompt_text(*args.prompt, "the prompt"));
    input.text = *args.prompt;
  }
  // An editor or echo ends a text with a newline that nobody meant to say.
  const bool from_file = args.file || (args.prompt && *args.prompt == "-");
  if (from_file && !args.raw && input.text.ends_with('\n')) input.text.pop_back();
  if (args.reply.system) {
    LOCKSTEP_RETURN_IF_ERROR(check_prompt_text(*args.reply.system, "--system"));
  }
  if (args.prediction) {
    LOCKSTEP_ASSIGN_OR_RETURN(input.prediction, read_prompt_file(*args.prediction));
  }
  return input;
}

Result<Prompt> make_prompt(const Engine& engine, const RunArgs& args, Input input) {
  if (args.ids_file) return Prompt{.ids = std::move(input.ids)};
  if (args.raw) {
    LOCKSTEP_ASSIGN_OR_RETURN(std::vector<int32_t> ids, engine.tokenizer.encode(input.text));
    return Prompt{.ids = std::move(ids)};
  }
  std::vector<ChatMessage> messages;
  if (args.reply.system) messages.push_back({"system", *args.reply.system, {}});
  messages.push_back({"user", std::move(input.text), {}});
  return encode_chat(engine, messages, args.reply.no_think);
}

Request make_request(const Engine& engine, const RunArgs& args, const Prompt& prompt,
                     std::vector<int32_t> prediction, const SamplingSettings& sampling) {
  return {.prompt = prompt.ids,
          .max_tokens = args.reply.max_tokens,
          .sampling = sampling,
          .stop_ids = engine.stop_ids,
          .top_logprobs = args.logprobs,
          .prompt_logprobs = args.prompt_logprobs,
          .drafts = args.reply.drafts,
          .prediction = std::move(prediction),
          .marks = prompt.marks};
}

// The exit code of a reply that was made, after the JSON if that is wanted.
int conclude(const Engine& engine, const RunArgs& args, const FinishedReply& finished) {
  const bool cancelled = finished.reply.end.finish == FinishReason::kCancelled;
  if (args.json && !cancelled) {
    const Status written = print(run_json(engine, finished));
    if (!written.ok()) return fail(written.error());
  }
  note(describe_figures(finished.reply));
  return cancelled ? fail(kFailed, "interrupted: the reply is not complete") : kDone;
}

}  // namespace

int run_command(const RunArgs& args, const Console& console) {
  if (args.batch) return run_batch(args, console);
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  auto input = read_input(args);
  if (!input.ok()) return fail(input.error());
  auto engine = load_engine(folder.value(), args.model, {.disk = args.cache}, console);
  if (!engine.ok()) return fail(engine.error());
  const auto prediction = engine.value()->tokenizer.encode(input.value().prediction);
  if (!prediction.ok()) return fail(prediction.error());
  const auto prompt = make_prompt(*engine.value(), args, std::move(input).value());
  if (!prompt.ok()) return fail(prompt.error());

  Engine& loaded = *engine.value();
  const SamplingChoice sampling =
      choose_sampling(args.reply.sampling, loaded.model.checkpoint().generation);
  Request request =
      make_request(loaded, args, prompt.value(), prediction.value(), sampling.settings);
  const Status good = loaded.streams->check(request);
  if (!good.ok()) return fail(good.error());

  note_raw(without_controls(start_report(loaded, sampling)));
  const auto finished = make_reply(loaded, std::move(request),
                                   {.raw = args.raw || args.ids_file,
                                    .begins_in_thinking = prompt.value().begins_in_thinking,
                                    .print = !args.json,
                                    .terminal = console.out_terminal,
                                    .dim = console.dim});
  if (!finished.ok()) return fail(finished.error());
  return conclude(loaded, args, finished.value());
}

}  // namespace lockstep
