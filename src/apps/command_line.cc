#include "apps/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {
namespace {

// A command of two words belongs to the group that its first word names.
struct CommandEntry {
  std::string_view name;
  const char* description;
  CommandLine (*parse)(CLI::App& app, std::span<const std::string> arguments);
};

constexpr CommandEntry kCommands[] = {
    {"run", "Answer one prompt", parse_run},
    {"chat", "Hold a conversation", parse_chat},
    {"serve", "Answer over HTTP, as OpenAI's API does", parse_serve},
    {"info", "Say what a model is and what it needs", parse_info},
    {"models", "List the embedded models", parse_models},
    {"synth", "Write a synthetic model in the shape of a released one", parse_synth},
    {"convert", "Write a model in another layout", parse_convert},
    {"bench", "Measure a model's speed and memory on this machine", parse_bench},
    {"verify exact", "Hold a model to the promise: the same bits in every schedule",
     parse_verify_exact},
    {"verify kernels", "Hold every kernel to its contract, at a model's shapes",
     parse_verify_kernels},
    {"eval", "Perplexity over a text, and one precision against another", parse_eval},
    {"verify stages", "Dump every stage of a forward pass, and compare dumps", parse_verify_stages},
    {"verify mtp", "Hold the draft head to a reference", parse_verify_mtp},
};

struct Group {
  std::string_view name;
  const char* description;
  const char* help;
};

constexpr Group kGroups[] = {
    {"verify", "Check that one sequence has one answer, and how exact it is", kVerifyHelp},
};

std::string title(std::string_view name) { return fmt::format("lockstep {}", name); }

// The names that may follow `group` ("" for the program itself), with what each is for.
std::vector<std::pair<std::string, std::string>> names_in(std::string_view group) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const CommandEntry& command : kCommands) {
    const size_t space = command.name.find(' ');
    const bool grouped = space != std::string_view::npos;
    if (!grouped && group.empty()) names.emplace_back(command.name, command.description);
    if (grouped && command.name.substr(0, space) == group) {
      names.emplace_back(command.name.substr(space + 1), command.description);
    }
  }
  if (!group.empty()) return names;
  for (const Group& each : kGroups) {
    if (!names_in(each.name).empty()) names.emplace_back(each.name, each.description);
  }
  return names;
}

// "run, chat and info".
std::string list_of(const std::vector<std::pair<std::string, std::string>>& names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    const char* joint = i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
    list += joint + names[i].first;
  }
  return list;
}

CommandLine with_hint(CommandLine line, const std::string& command) {
  if (!line.error.empty()) line.error = fmt::format("{} (see {} --help)", line.error, command);
  return line;
}

CommandLine error_line(std::string error) {
  return {.command = {}, .text = {}, .error = std::move(error)};
}

// What was typed is no command: a flag, nothing, or a name that is not known.
CommandLine parse_names(CLI::App& app, std::string_view group,
                        std::span<const std::string> arguments) {
  const auto names = names_in(group);
  if (!arguments.empty() && !arguments.front().starts_with("-")) {
    return with_hint(error_line(fmt::format("\"{}\" is not a command; {} are", arguments.front(),
                                            list_of(names))),
                     app.get_name());
  }
  for (const auto& [name, description] : names) app.add_subcommand(name, description);
  CommandLine line = parse_with(app, arguments);
  if (line.text.empty() && line.error.empty()) line.error = "no command";
  return with_hint(std::move(line), app.get_name());
}

CommandLine parse_group(const Group& group, std::span<const std::string> arguments) {
  CLI::App app(group.description, title(group.name));
  app.footer(group.help);
  return parse_names(app, group.name, arguments);
}

CommandLine parse_main(std::span<const std::string> arguments) {
  CLI::App app("Lockstep runs models of the Qwen3.5 family.", "lockstep");
  app.footer(kMainHelp);
  app.set_version_flag("--version", std::string("lockstep ") + LOCKSTEP_VERSION);
  return parse_names(app, "", arguments);
}

template <typename Entry, size_t kCount>
const Entry* find(const Entry (&entries)[kCount], std::string_view name) {
  const Entry* found = std::find_if(entries, entries + kCount,
                                    [&](const Entry& entry) { return entry.name == name; });
  return found == entries + kCount ? nullptr : found;
}

}  // namespace

// Each command parses what follows its name on its own, so that a prompt may be a command's name.
CommandLine parse_command_line(std::span<const std::string> arguments) {
  if (arguments.empty()) return parse_main(arguments);
  std::string name = arguments.front();
  const Group* group = find(kGroups, name);
  if (group != nullptr && arguments.size() > 1) name += " " + arguments[1];
  const CommandEntry* command = find(kCommands, name);
  if (command != nullptr) {
    const size_t words = group == nullptr ? 1 : 2;
    CLI::App app(command->description, title(name));
    return with_hint(command->parse(app, arguments.subspan(words)), title(name));
  }
  if (group != nullptr && !names_in(group->name).empty()) {
    return parse_group(*group, arguments.subspan(1));
  }
  return parse_main(arguments);
}

}  // namespace lockstep
