#include "apps/command_line/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "apps/sampling_choice.h"

namespace lockstep {
namespace {

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

std::string available_names() {
  std::string names;
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (isa_available(isa)) names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(isa));
  }
  return names;
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

const char* const kSamplingGroup =
    "Sampling (default: the model's generation_config.json, else neutral)";

void add_distribution_options(CLI::App& app, SamplingArgs& sampling) {
  app.add_option("--temperature", sampling.temperature, "0: always the likeliest token")
      ->check(kReal)
      ->type_name("T")
      ->group(kSamplingGroup);
  app.add_option("--top-k", sampling.top_k, "Only the K likeliest tokens; 0: off")
      ->check(kWhole)
      ->type_name("K")
      ->group(kSamplingGroup);
  app.add_option("--top-p", sampling.top_p, "Only the likeliest tokens that hold probability P")
      ->check(kReal)
      ->type_name("P")
      ->group(kSamplingGroup);
  app.add_option("--min-p", sampling.min_p, "Only tokens at least P times as likely as the first")
      ->check(kReal)
      ->type_name("P")
      ->group(kSamplingGroup);
}

void add_edit_options(CLI::App& app, SamplingArgs& sampling, RawReply& raw) {
  const auto real = [&](const char* name, std::optional<double>& value, const char* help) {
    app.add_option(name, value, help)->check(kReal)->type_name("P")->group(kSamplingGroup);
  };
  real("--repetition-penalty", sampling.repetition_penalty,
       "Above 1: tokens of prompt and reply become less likely");
  real("--presence-penalty", sampling.presence_penalty, "Taken off tokens that the reply has");
  real("--frequency-penalty", sampling.frequency_penalty,
       "Taken off tokens of the reply, for each time");
  app.add_option("--penalty-window", sampling.penalty_window,
                 "Penalties look at the last N tokens; 0: at all")
      ->check(kWhole)
      ->type_name("N")
      ->group(kSamplingGroup);
  const auto list = [&](const char* name, auto& values, const char* type, const char* help) {
    return app.add_option(name, values, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name(type)
        ->group(kSamplingGroup);
  };
  list("--logit-bias", raw.logit_bias, "ID=B", "Added to the logits of tokens");
  list("--ban", sampling.banned_tokens, "ID", "Tokens that are never drawn")->check(kTokenId);
  list("--allow", sampling.allowed_tokens, "ID", "Only these tokens are drawn")->check(kTokenId);
}

std::string check_biases(const std::vector<std::string>& typed, std::vector<LogitBias>& biases) {
  for (const std::string& text : typed) {
    LogitBias entry;
    const char* end = text.data() + text.size();
    const auto id = std::from_chars(text.data(), end, entry.id);
    const bool divided = id.ec == std::errc() && id.ptr != end && *id.ptr == '=';
    const auto bias = std::from_chars(divided ? id.ptr + 1 : end, end, entry.bias);
    if (!divided || bias.ec != std::errc() || bias.ptr != end) {
      return fmt::format("--logit-bias is {}; it must be like 1234=-2.5, a token id and a number",
                         text);
    }
    biases.push_back(entry);
  }
  return {};
}

}  // namespace

const CLI::Validator kWhole(check_number<int64_t>, "");
const CLI::Validator kThreads(check_number<int>, "");
const CLI::Validator kTokenId(check_number<int32_t>, "");
const CLI::Validator kReal(check_number<double>, "");
const CLI::Validator kNotEmpty(check_not_empty, "");

void add_checkpoint_options(CLI::App& app, ModelArgs& args, RawModel& raw) {
  app.add_option("MODEL", args.model,
                 "A model folder or .gguf file, or a name that lockstep models lists")
      ->required();
  app.add_option("--precision", raw.precision,
                 "int8 (default): int8 activations, bf16 cache; full: float32")
      ->type_name("NAME");
  app.add_option("--mtp", args.mtp, "Draft head to use: a folder, a .safetensors or a .gguf file")
      ->check(kNotEmpty)
      ->type_name("PATH");
  app.add_flag("--no-mtp", args.no_mtp, "Leave the draft head alone, whatever is wrong with it");
  app.add_flag("--allow-unused", args.allow_unused,
               "Accept weights that nothing reads and nothing explains");
}

void add_thread_options(CLI::App& app, ModelArgs& args, RawModel& raw) {
  app.add_option("--threads", args.threads,
                 "Threads (default: what affinity and the cgroup quota allow)")
      ->check(kThreads)
      ->type_name("N");
  app.add_option("--isa", raw.isa, "Instruction set, for comparisons: none changes a bit")
      ->type_name("NAME");
}

void add_context_option(CLI::App& app, ModelArgs& args) {
  app.add_option("--ctx", args.context,
                 "Positions of prompt and reply together (default: what fits)")
      ->check(kWhole)
      ->type_name("N");
}

void add_cache_options(CLI::App& app, CacheArgs& args) {
  app.add_option("--cache-dir", args.folder, "Keep what was read on disk too, for later runs")
      ->check(kNotEmpty)
      ->type_name("FOLDER");
  app.add_option("--cache-disk", args.gib,
                 fmt::format("GiB that the folder may take (default: {})", kDefaultCacheGib))
      ->check(kWhole)
      ->type_name("N");
}

void add_reply_options(CLI::App& app, ReplyArgs& args, RawReply& raw) {
  app.add_option("--system", args.system, "System message")->type_name("TEXT");
  app.add_option("--max-tokens", args.max_tokens,
                 "Most tokens of a reply (default: to the end of the context)")
      ->check(kWhole)
      ->type_name("N");
  app.add_flag("--no-think", args.no_think, "Ask the template for a reply without thinking");
  app.add_option("--draft", raw.draft,
                 fmt::format("on (default), off, or at most N of {} drafts in a round: faster, and "
                             "never another token",
                             kMostDrafts))
      ->type_name("N");
  add_distribution_options(app, args.sampling);
  add_edit_options(app, args.sampling, raw);
  app.add_option("--seed", raw.seed, "The same seed, the same reply (default: random)")
      ->type_name("N")
      ->group(kSamplingGroup);
}

std::string check_threads(const std::optional<int>& threads) {
  if (!threads || (*threads >= 1 && *threads <= kMaxThreads)) return {};
  return fmt::format("--threads is {}; it must be from 1 to {}", *threads, kMaxThreads);
}

std::string check_model(ModelArgs& args, const RawModel& raw) {
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
    if (!args.isa || !isa_available(*args.isa)) {
      return fmt::format("--isa {} {}; these run here: {}", *raw.isa,
                         args.isa ? "does not run on this processor" : "is not known",
                         available_names());
    }
  }
  return check_threads(args.threads);
}

std::string check_cache(const CacheArgs& args) {
  constexpr int64_t kMostGib = int64_t{1} << 30;
  if (!args.gib) return {};
  if (!args.folder) return "--cache-disk needs --cache-dir: there is no folder to limit";
  if (*args.gib >= 1 && *args.gib <= kMostGib) return {};
  return fmt::format("--cache-disk is {}; it must be from 1 to {}", *args.gib, kMostGib);
}

std::string check_seed(const std::optional<std::string>& typed, std::optional<uint64_t>& seed) {
  if (!typed) return {};
  const char* end = typed->data() + typed->size();
  uint64_t value = 0;
  const auto parsed = std::from_chars(typed->data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return fmt::format("--seed is {}; it must be a number from 0 to 18446744073709551615", *typed);
  }
  seed = value;
  return {};
}

std::string check_draft(const std::string& typed, int64_t& drafts) {
  if (typed == "on") return {};
  if (typed == "off") {
    drafts = 0;
    return {};
  }
  const char* end = typed.data() + typed.size();
  const auto parsed = std::from_chars(typed.data(), end, drafts);
  const bool good = parsed.ec == std::errc() && parsed.ptr == end;
  if (good && drafts >= 0 && drafts <= kMostDrafts) return {};
  return fmt::format("--draft is {}; it must be on, off or a number up to {}", typed, kMostDrafts);
}

std::string check_reply(ReplyArgs& args, const RawReply& raw) {
  if (args.max_tokens && *args.max_tokens < 0) {
    return fmt::format("--max-tokens is {}; it must be at least 0", *args.max_tokens);
  }
  const std::string unreadable =
      first_of({check_seed(raw.seed, args.sampling.seed), check_draft(raw.draft, args.drafts),
                check_biases(raw.logit_bias, args.sampling.logit_bias)});
  if (!unreadable.empty()) return unreadable;
  const Status status = check_settings(settings_of(args.sampling, {}));
  return status.ok() ? std::string() : status.error().message;
}

std::string first_of(std::initializer_list<std::string> findings) {
  for (const std::string& finding : findings) {
    if (!finding.empty()) return finding;
  }
  return {};
}

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

}  // namespace lockstep
