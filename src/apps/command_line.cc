// The only file that sees CLI11: its header takes longer to compile than the rest of this module.
#include "apps/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <vector>

#include "apps/help_texts.h"
#include "checkpoint/synth/synth.h"
#include "sampling/logprobs.h"
#include "sampling/settings.h"

namespace lockstep {
namespace {

constexpr int kMaxThreads = 1024;

// The options of one command as CLI11 fills them, before the checks that it cannot do.
struct Raw {
  RunArgs run;
  ChatArgs chat;
  InfoArgs info;
  ModelsArgs models;
  SynthArgs synth;
  std::string precision = "int8";
  std::optional<std::string> isa;
  std::string format = "mlx4";
  std::optional<std::string> seed;  // CLI11 would take -1 for 2^64 - 1
};

// CLI11 reads "010" as 8, stops at the largest number that fits and takes "" for an absent option.
template <typename Number>
std::string check_number(const std::string& text) {
  Number value = {};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  const size_t first = text.starts_with('-') ? 1 : 0;
  const bool octal = text.size() > first + 1 && text[first] == '0' && text[first + 1] >= '0' &&
                     text[first + 1] <= '9';
  if (!octal && parsed.ec == std::errc() && parsed.ptr == end) return {};
  return fmt::format("\"{}\" is not a number that fits", text);
}

std::string check_not_empty(const std::string& text) {
  return text.empty() ? "it must not be empty" : std::string();
}

const CLI::Validator kWhole(check_number<int64_t>, "");
const CLI::Validator kThreads(check_number<int>, "");
const CLI::Validator kReal(check_number<double>, "");
const CLI::Validator kNotEmpty(check_not_empty, "");

void add_checkpoint_options(CLI::App& app, ModelArgs& args, Raw& raw) {
  app.add_option("MODEL", args.model, "A model folder, or a name that lockstep models lists")
      ->required();
  app.add_option("--precision", raw.precision,
                 "int8 (default): int8 activations, bf16 cache; full: float32")
      ->type_name("NAME");
  app.add_option("--mtp", args.mtp, "Draft head to use: a folder or a .safetensors file")
      ->check(kNotEmpty)
      ->type_name("PATH");
  app.add_flag("--no-mtp", args.no_mtp, "Leave the draft head alone, whatever is wrong with it");
  app.add_flag("--allow-unused", args.allow_unused,
               "Accept weights that nothing reads and nothing explains");
}

void add_running_options(CLI::App& app, ModelArgs& args, Raw& raw) {
  app.add_option("--ctx", args.context,
                 "Positions of prompt and reply together (default: what fits)")
      ->check(kWhole)
      ->type_name("N");
  app.add_option("--threads", args.threads,
                 "Threads (default: what affinity and the cgroup quota allow)")
      ->check(kThreads)
      ->type_name("N");
  app.add_option("--isa", raw.isa, "Instruction set, for comparisons: none changes a bit")
      ->type_name("NAME");
}

void add_reply_options(CLI::App& app, ReplyArgs& args, Raw& raw) {
  app.add_option("--system", args.system, "System message")->type_name("TEXT");
  app.add_option("--max-tokens", args.max_tokens,
                 "Most tokens of a reply (default: to the end of the context)")
      ->check(kWhole)
      ->type_name("N");
  app.add_flag("--no-think", args.no_think, "Ask the template for a reply without thinking");
  const char* group = "Sampling (default: the model's generation_config.json, else neutral)";
  SamplingArgs& sampling = args.sampling;
  app.add_option("--temperature", sampling.temperature, "0: always the likeliest token")
      ->check(kReal)
      ->type_name("T")
      ->group(group);
  app.add_option("--top-k", sampling.top_k, "Only the K likeliest tokens; 0: off")
      ->check(kWhole)
      ->type_name("K")
      ->group(group);
  app.add_option("--top-p", sampling.top_p, "Only the likeliest tokens that hold probability P")
      ->check(kReal)
      ->type_name("P")
      ->group(group);
  app.add_option("--min-p", sampling.min_p, "Only tokens at least P times as likely as the first")
      ->check(kReal)
      ->type_name("P")
      ->group(group);
  app.add_option("--seed", raw.seed, "The same seed, the same reply (default: random)")
      ->type_name("N")
      ->group(group);
}

void configure_run(CLI::App& run, Raw& raw) {
  run.footer(kRunHelp);
  add_checkpoint_options(run, raw.run.model, raw);
  run.add_option("PROMPT", raw.run.prompt, "The prompt; - reads standard input");
  run.add_option("--file", raw.run.file, "Read the prompt from a file")->type_name("FILE");
  run.add_option("--ids", raw.run.ids_file, "Read token ids from a file, in place of text")
      ->type_name("FILE");
  run.add_flag("--raw", raw.run.raw, "Continue the prompt as it stands, without chat template");
  add_running_options(run, raw.run.model, raw);
  add_reply_options(run, raw.run.reply, raw);
  run.add_flag("--json", raw.run.json, "Print one JSON object at the end, nothing before");
  run.add_option("--logprobs", raw.run.logprobs,
                 "With --json: log-probabilities, with the N likeliest (0 to 20)")
      ->check(kWhole)
      ->type_name("N");
}

void configure_chat(CLI::App& chat, Raw& raw) {
  chat.footer(kChatHelp);
  add_checkpoint_options(chat, raw.chat.model, raw);
  add_running_options(chat, raw.chat.model, raw);
  add_reply_options(chat, raw.chat.reply, raw);
}

void configure_info(CLI::App& info, Raw& raw) {
  info.footer(kInfoHelp);
  add_checkpoint_options(info, raw.info.model, raw);
  info.add_flag("--json", raw.info.json, "Print one JSON object");
}

void configure_models(CLI::App& models, Raw& raw) {
  models.add_flag("--json", raw.models.json, "Print one JSON array");
}

void configure_synth(CLI::App& synth, Raw& raw) {
  std::string shapes = "SHAPE is one of:\n";
  for (const SynthShape& shape : synth_shapes()) {
    shapes += fmt::format("  {:<14} {}\n", shape.name, shape.description);
  }
  synth.footer(shapes + kSynthHelp);
  synth.add_option("SHAPE", raw.synth.shape, "Which shape")->required();
  synth.add_option("DIR", raw.synth.folder, "Folder to write; it must not exist or be empty")
      ->required();
  synth.add_option("--format", raw.format, "mlx4 (4 bits, groups of 64; the default) or bf16")
      ->type_name("NAME");
  synth.add_option("--seed", raw.seed, "Other weights of the same kind (default: 0)")
      ->type_name("N");
  synth
      .add_option("--threads", raw.synth.threads,
                  "Threads (default: what affinity and the cgroup quota allow)")
      ->check(kThreads)
      ->type_name("N");
}

struct CommandEntry {
  const char* name;
  const char* description;
  void (*configure)(CLI::App&, Raw&);
};

constexpr CommandEntry kCommands[] = {
    {"run", "Answer one prompt", configure_run},
    {"chat", "Hold a conversation", configure_chat},
    {"info", "Say what a model is and what it needs", configure_info},
    {"models", "List the embedded models", configure_models},
    {"synth", "Write a synthetic model in the shape of a released one", configure_synth},
};

std::string check_threads(const std::optional<int>& threads) {
  if (!threads || (*threads >= 1 && *threads <= kMaxThreads)) return {};
  return fmt::format("--threads is {}; it must be from 1 to {}", *threads, kMaxThreads);
}

std::string check_model(ModelArgs& args, const Raw& raw) {
  const auto precision = parse_precision(raw.precision);
  if (!precision) {
    return fmt::format("--precision {} is not known; int8 and full are", raw.precision);
  }
  args.precision = *precision;
  if (args.no_mtp && !args.mtp.empty()) return "--mtp and --no-mtp exclude each other";
  if (args.context && *args.context < 1) {
    return fmt::format("--ctx is {}; it must be at least 1", *args.context);
  }
  if (raw.isa) {
    args.isa = parse_isa(*raw.isa);
    if (!args.isa) return fmt::format("--isa {} is not known", *raw.isa);
    if (!isa_available(*args.isa)) {
      return fmt::format("--isa {} does not run here; {} does", *raw.isa, to_string(best_isa()));
    }
  }
  return check_threads(args.threads);
}

// Takes a seed that was typed.
std::string check_seed(const Raw& raw, std::optional<uint64_t>& seed) {
  if (!raw.seed) return {};
  const char* end = raw.seed->data() + raw.seed->size();
  uint64_t value = 0;
  const auto parsed = std::from_chars(raw.seed->data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return fmt::format("--seed is {}; it must be a number from 0 to 18446744073709551615",
                       *raw.seed);
  }
  seed = value;
  return {};
}

std::string check_reply(const ReplyArgs& args) {
  if (args.max_tokens && *args.max_tokens < 0) {
    return fmt::format("--max-tokens is {}; it must be at least 0", *args.max_tokens);
  }
  const SamplingArgs& sampling = args.sampling;
  SamplingSettings settings;
  settings.temperature = sampling.temperature.value_or(settings.temperature);
  settings.top_k = sampling.top_k.value_or(settings.top_k);
  settings.top_p = sampling.top_p.value_or(settings.top_p);
  settings.min_p = sampling.min_p.value_or(settings.min_p);
  const Status status = check_settings(settings);
  return status.ok() ? std::string() : status.error().message;
}

std::string check_run(const RunArgs& args) {
  const int sources = args.prompt.has_value() + args.file.has_value() + args.ids_file.has_value();
  if (sources == 0) {
    return "no prompt: give it as an argument, by --file FILE, by --ids FILE, or - for standard "
           "input";
  }
  if (sources > 1) return "more than one prompt: PROMPT, --file and --ids exclude each other";
  const bool templated = !args.raw && !args.ids_file;
  if (!templated && args.reply.system) {
    return "--system needs the chat template: it does not go with --raw or --ids";
  }
  if (!templated && args.reply.no_think) {
    return "--no-think needs the chat template: it does not go with --raw or --ids";
  }
  if (args.raw && args.ids_file) return "--raw does not go with --ids: ids know no template";
  if (args.logprobs && !args.json) return "--logprobs needs --json: text has no place for them";
  if (args.logprobs && (*args.logprobs < 0 || *args.logprobs > kMaxTopLogprobs)) {
    return fmt::format("--logprobs is {}; it must be from 0 to {}", *args.logprobs,
                       kMaxTopLogprobs);
  }
  return {};
}

std::string check_synth(SynthArgs& args, const Raw& raw) {
  const auto shape = find_synth_shape(args.shape);
  if (!shape.ok()) return shape.error().message;
  const auto layout = parse_synth_format(raw.format);
  if (!layout.ok()) return layout.error().message;
  args.layout = layout.value();
  return check_threads(args.threads);
}

// The first thing found wrong, empty if nothing is.
std::string first_of(std::initializer_list<std::string> findings) {
  for (const std::string& finding : findings) {
    if (!finding.empty()) return finding;
  }
  return {};
}

// The chosen command with its checks done; `error` is set if one fails.
Command take_command(const std::string& name, Raw& raw, std::string& error) {
  if (name == "run") {
    error = first_of({check_model(raw.run.model, raw), check_seed(raw, raw.run.reply.sampling.seed),
                      check_reply(raw.run.reply), check_run(raw.run)});
    return raw.run;
  }
  if (name == "chat") {
    error = first_of({check_model(raw.chat.model, raw),
                      check_seed(raw, raw.chat.reply.sampling.seed), check_reply(raw.chat.reply)});
    return raw.chat;
  }
  if (name == "info") {
    error = check_model(raw.info.model, raw);
    return raw.info;
  }
  if (name == "synth") {
    error = first_of({check_seed(raw, raw.synth.seed), check_synth(raw.synth, raw)});
    return raw.synth;
  }
  return raw.models;
}

// Null if there is none of that name.
const CommandEntry* find_command(const std::string& name) {
  for (const CommandEntry& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string describe(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app.remaining(true);
    const std::string first = extras.empty() ? error.what() : extras.front();
    if (first.starts_with("-")) {
      return fmt::format("unknown flag {} (a prompt that begins with - goes after --)", first);
    }
    return fmt::format("unexpected argument \"{}\" (a prompt of several words goes in quotes)",
                       first);
  }
  return one_line(error.what());
}

// Parses what follows on its own, so that a prompt may be the name of a command.
CommandLine parse_with(CLI::App& app, std::span<const std::string> arguments) {
  app.get_formatter()->column_width(28);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return {.command = {}, .text = app.help() + "\n", .error = {}};
  } catch (const CLI::CallForVersion&) {
    return {.command = {}, .text = app.version() + "\n", .error = {}};
  } catch (const CLI::ParseError& error) {
    return {.command = {}, .text = {}, .error = describe(error, app)};
  }
  return {};
}

CommandLine parse_main(std::span<const std::string> arguments) {
  CLI::App app("Lockstep runs models of the Qwen3.5 family.", "lockstep");
  app.footer(kMainHelp);
  app.set_version_flag("--version", std::string("lockstep ") + LOCKSTEP_VERSION);
  for (const CommandEntry& command : kCommands) {
    app.add_subcommand(command.name, command.description);
  }
  CommandLine line = parse_with(app, arguments);
  if (line.text.empty() && line.error.empty()) line.error = "no command";
  return line;
}

CommandLine parse_command(const CommandEntry& entry, std::span<const std::string> arguments) {
  CLI::App app(entry.description, std::string("lockstep ") + entry.name);
  Raw raw;
  entry.configure(app, raw);
  CommandLine line = parse_with(app, arguments);
  if (!line.text.empty() || !line.error.empty()) return line;
  Command chosen = take_command(entry.name, raw, line.error);
  if (line.error.empty()) line.command = std::move(chosen);
  return line;
}

}  // namespace

CommandLine parse_command_line(std::span<const std::string> arguments) {
  if (arguments.empty()) {
    return {.command = {}, .text = {}, .error = "no command (see lockstep --help)"};
  }
  const std::string& name = arguments.front();
  const CommandEntry* entry = find_command(name);
  if (entry == nullptr && !name.starts_with("-")) {
    return {.command = {},
            .text = {},
            .error = fmt::format("\"{}\" is not a command; run, chat, info, models and synth are",
                                 name)};
  }
  CommandLine line =
      entry == nullptr ? parse_main(arguments) : parse_command(*entry, arguments.subspan(1));
  if (!line.error.empty()) {
    const std::string title = entry == nullptr ? "lockstep" : "lockstep " + name;
    line.error = fmt::format("{} (see {} --help)", line.error, title);
  }
  return line;
}

}  // namespace lockstep
