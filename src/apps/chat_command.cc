#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "apps/chat_prompt.h"
#include "apps/commands.h"
#include "apps/conversation.h"
#include "apps/engine.h"
#include "apps/figures.h"
#include "apps/interrupt.h"
#include "apps/line_reader.h"
#include "apps/model_path.h"
#include "apps/prompt_source.h"
#include "apps/reply.h"
#include "apps/sampling_choice.h"
#include "apps/start_report.h"
#include "checkpoint/output_file.h"

namespace lockstep {
namespace {

constexpr const char* kHelp =
    "/help        this list\n"
    "/reset       forget the conversation, keep the system message\n"
    "/undo        take your last message and its reply back\n"
    "/regen       make the last reply again, another one\n"
    "/prompt      show the conversation as the model would read it now\n"
    "/save FILE   write the conversation as JSON messages\n"
    "/quit        leave, as Ctrl-D does\n"
    "//text       send text that begins with a slash\n";

class Chat {
 public:
  Chat(Engine& engine, const ChatArgs& args, const Console& console, SamplingSettings sampling)
      : engine_(engine),
        args_(args),
        console_(console),
        sampling_(sampling),
        conversation_(args.reply.system) {}

  int run(LineReader& reader);

 private:
  enum class Next { kGoOn, kLeave };

  Next obey(std::string_view command, std::string_view argument);
  Status handle(std::string line, Next& next);
  Status say(std::string text);
  Status reply();
  Status regenerate();
  Status show_prompt();
  void save(std::string_view file);

  Engine& engine_;
  const ChatArgs& args_;
  Console console_;
  SamplingSettings sampling_;
  Conversation conversation_;
  Status failure_;  // of the command just obeyed
};

// Makes and prints the next reply to the conversation as it stands.
Status Chat::reply() {
  LOCKSTEP_ASSIGN_OR_RETURN(Prompt prompt,
                            encode_chat(engine_, conversation_.messages(), args_.reply.no_think));
  Request request = {.prompt = std::move(prompt.ids),
                     .max_tokens = args_.reply.max_tokens,
                     .sampling = sampling_,
                     .stop_ids = engine_.stop_ids,
                     .drafts = args_.reply.drafts,
                     .marks = std::move(prompt.marks)};
  request.sampling.reply_index = conversation_.reply_index();
  const ReplyOptions options = {.begins_in_thinking = prompt.begins_in_thinking,
                                .print = true,
                                .terminal = console_.out_terminal,
                                .dim = console_.dim,
                                .second_interrupt = SecondInterrupt::kSetsFlag};
  LOCKSTEP_ASSIGN_OR_RETURN(FinishedReply finished,
                            make_reply(engine_, std::move(request), options));
  note(describe_figures(finished.reply));
  if (finished.reply.end.finish == FinishReason::kCancelled && finished.reply.tokens.empty()) {
    return Error{ErrorCode::kInvalidArgument, "interrupted before the first token of a reply"};
  }
  conversation_.add_reply(std::move(finished.parts.answer), std::move(finished.parts.thinking));
  return {};
}

// A message that gets no reply leaves no trace.
Status Chat::say(std::string text) {
  LOCKSTEP_RETURN_IF_ERROR(check_prompt_text(text, "the message"));
  conversation_.add_user(std::move(text));
  const Status status = reply();
  if (!status.ok()) conversation_.undo();
  return status;
}

// A reply that cannot be made again stays.
Status Chat::regenerate() {
  const Conversation before = conversation_;
  if (!conversation_.take_back_reply()) {
    note("there is no reply to make again");
    return {};
  }
  const Status status = reply();
  if (!status.ok()) conversation_ = before;
  return status;
}

Status Chat::show_prompt() {
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string text,
                            render_prompt(engine_, conversation_.messages(), args_.reply.no_think));
  return print((console_.out_terminal ? without_controls(text) : text) + "\n");
}

void Chat::save(std::string_view file) {
  if (file.empty()) {
    failure_ = Error{ErrorCode::kInvalidArgument, "/save needs the name of a file"};
    return;
  }
  const Status saved =
      write_text_file(std::string(file), dump_messages(conversation_.messages()) + "\n", true);
  if (saved.ok()) {
    note(fmt::format("saved {} messages to {}", conversation_.messages().size(), file));
  } else {
    // The user's choice of a file is at fault, not standard output: the conversation goes on.
    failure_ = Error{ErrorCode::kInvalidArgument, saved.error().message};
  }
}

Chat::Next Chat::obey(std::string_view command, std::string_view argument) {
  if (command == "/help") {
    note_raw(kHelp);
  } else if (command == "/quit") {
    return Next::kLeave;
  } else if (command == "/reset") {
    conversation_.reset();
    note("the conversation is empty");
  } else if (command == "/undo") {
    note(conversation_.undo() ? "took the last exchange back" : "there is nothing to take back");
  } else if (command == "/regen") {
    failure_ = regenerate();
  } else if (command == "/prompt") {
    failure_ = show_prompt();
  } else if (command == "/save") {
    save(argument);
  } else {
    note(fmt::format("{} is not a command; /help lists them", command));
  }
  return Next::kGoOn;
}

Status Chat::handle(std::string line, Next& next) {
  if (line.find_first_not_of(" \t") == std::string::npos) return {};
  if (line.starts_with("//")) return say(line.substr(1));
  if (!line.starts_with("/")) return say(std::move(line));
  const std::string_view text = line;
  const size_t blank = text.find(' ');
  const std::string_view command = text.substr(0, blank);
  std::string_view argument = blank == std::string_view::npos ? "" : text.substr(blank);
  argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
  failure_ = {};
  next = obey(command, argument);
  return failure_;
}

int Chat::run(LineReader& reader) {
  const InterruptScope interrupt(SecondInterrupt::kSetsFlag);
  int code = kDone;
  bool warned = false;
  while (true) {
    std::string line;
    const auto event = reader.read("> ", line);
    if (!event.ok()) return fail(event.error());
    if (event.value() == LineEvent::kEnd) return code;
    if (event.value() == LineEvent::kInterrupted) {
      if (warned) return code;
      warned = true;
      InterruptScope::clear();
      note("Ctrl-C again or Ctrl-D leaves; /help lists the commands");
      continue;
    }
    warned = false;
    Next next = Next::kGoOn;
    const Status status = handle(std::move(line), next);
    if (next == Next::kLeave) return code;
    if (status.ok()) continue;
    fail(status.error());
    if (status.error().code == ErrorCode::kIo && !console_.out_terminal) return kFailed;
    // On a terminal the user sees the error and goes on; a script should learn of it at the end.
    if (!console_.in_terminal) code = kFailed;
  }
}

}  // namespace

int chat_command(const ChatArgs& args, const Console& console) {
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  if (args.reply.system) {
    const Status valid = check_prompt_text(*args.reply.system, "--system");
    if (!valid.ok()) return fail(valid.error());
  }
  auto engine =
      load_engine(folder.value(), args.model, {.cache = true, .disk = args.cache}, console);
  if (!engine.ok()) return fail(engine.error());
  Engine& loaded = *engine.value();
  if (!loaded.chat_template) return fail(kFailed, loaded.template_fault);
  const SamplingChoice sampling =
      choose_sampling(args.reply.sampling, loaded.model.checkpoint().generation);
  note_raw(without_controls(start_report(loaded, sampling)));
  const bool edits = console.in_terminal && console.err_terminal;
  const auto reader = edits ? make_terminal_reader() : make_plain_reader();
  if (edits) note("/help lists the commands");
  return Chat(loaded, args, console, sampling.settings).run(*reader);
}

}  // namespace lockstep
