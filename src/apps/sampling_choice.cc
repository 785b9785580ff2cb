#include "apps/sampling_choice.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

// One setting; `from` names it if the checkpoint decided it.
template <typename T>
T pick(const char* name, const std::optional<T>& typed, const std::optional<T>& recommended,
       T neutral, std::vector<const char*>& from) {
  if (typed) return *typed;
  if (!recommended) return neutral;
  from.push_back(name);
  return *recommended;
}

void warn_of_penalty(const char* name, const std::optional<double>& value, double neutral,
                     std::vector<std::string>& warnings) {
  if (!value || *value == neutral) return;
  warnings.push_back(fmt::format(
      "generation_config.json recommends {} {}; penalties are not supported yet", name, *value));
}

std::string describe(const SamplingSettings& settings, const std::vector<const char*>& from) {
  if (settings.temperature == 0.0) return "temperature 0: always the likeliest token";
  std::string text = fmt::format("temperature {}", settings.temperature);
  if (settings.top_k > 0) text += fmt::format(", top-k {}", settings.top_k);
  if (settings.top_p < 1.0) text += fmt::format(", top-p {}", settings.top_p);
  if (settings.min_p > 0.0) text += fmt::format(", min-p {}", settings.min_p);
  text += fmt::format(", seed {}", *settings.seed);
  if (from.empty()) return text;
  return fmt::format("{} ({} from generation_config.json)", text, fmt::join(from, ", "));
}

}  // namespace

SamplingChoice choose_sampling(const SamplingArgs& args, const GenerationConfig& generation) {
  const bool greedy = generation.do_sample == false;
  const auto temperature = greedy ? std::optional(0.0) : generation.temperature;
  const SamplingSettings neutral;
  SamplingChoice choice;
  std::vector<const char*> from;
  choice.settings.temperature =
      pick("temperature", args.temperature, temperature, neutral.temperature, from);
  choice.settings.top_k = pick("top-k", args.top_k, generation.top_k, neutral.top_k, from);
  choice.settings.top_p = pick("top-p", args.top_p, generation.top_p, neutral.top_p, from);
  choice.settings.min_p = pick("min-p", args.min_p, generation.min_p, neutral.min_p, from);
  choice.settings.seed = args.seed ? *args.seed : random_seed();
  choice.description = describe(choice.settings, from);
  warn_of_penalty("repetition_penalty", generation.repetition_penalty, 1.0, choice.warnings);
  warn_of_penalty("presence_penalty", generation.presence_penalty, 0.0, choice.warnings);
  warn_of_penalty("frequency_penalty", generation.frequency_penalty, 0.0, choice.warnings);
  return choice;
}

}  // namespace lockstep
