#include "apps/sampling_choice.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

std::string describe(const SamplingSettings& settings, const std::vector<const char*>& from) {
  const bool greedy = settings.temperature == 0.0;
  std::string text = greedy ? "temperature 0: always the likeliest token"
                            : fmt::format("temperature {}", settings.temperature);
  const auto add = [&](const char* name, const auto& value, const auto& neutral) {
    if (value != neutral) text += fmt::format(", {} {}", name, value);
  };
  const SamplingSettings neutral;
  if (!greedy) {
    add("top-k", settings.top_k, neutral.top_k);
    add("top-p", settings.top_p, neutral.top_p);
    add("min-p", settings.min_p, neutral.min_p);
  }
  add("repetition penalty", settings.repetition_penalty, neutral.repetition_penalty);
  add("presence penalty", settings.presence_penalty, neutral.presence_penalty);
  add("frequency penalty", settings.frequency_penalty, neutral.frequency_penalty);
  add("penalty window", settings.penalty_window, neutral.penalty_window);
  add("biased tokens:", settings.logit_bias.size(), size_t{0});
  add("banned tokens:", settings.banned_tokens.size(), size_t{0});
  add("allowed tokens:", settings.allowed_tokens.size(), size_t{0});
  if (!greedy && settings.seed) text += fmt::format(", seed {}", *settings.seed);
  if (from.empty()) return text;
  return fmt::format("{} ({} from generation_config.json)", text, fmt::join(from, ", "));
}

}  // namespace

SamplingSettings settings_of(const SamplingArgs& args, const GenerationConfig& generation,
                             std::vector<const char*>* from) {
  SamplingSettings settings;
  const auto pick = [&](const char* name, const auto& typed, const auto& recommended, auto& value) {
    if (typed) {
      value = *typed;
    } else if (recommended) {
      value = *recommended;
      if (from != nullptr) from->push_back(name);
    }
  };
  const bool greedy = generation.do_sample == false;
  const auto temperature = greedy ? std::optional(0.0) : generation.temperature;
  pick("temperature", args.temperature, temperature, settings.temperature);
  pick("top-k", args.top_k, generation.top_k, settings.top_k);
  pick("top-p", args.top_p, generation.top_p, settings.top_p);
  pick("min-p", args.min_p, generation.min_p, settings.min_p);
  pick("repetition penalty", args.repetition_penalty, generation.repetition_penalty,
       settings.repetition_penalty);
  pick("presence penalty", args.presence_penalty, generation.presence_penalty,
       settings.presence_penalty);
  pick("frequency penalty", args.frequency_penalty, generation.frequency_penalty,
       settings.frequency_penalty);
  settings.penalty_window = args.penalty_window.value_or(settings.penalty_window);
  settings.logit_bias = args.logit_bias;
  settings.banned_tokens = args.banned_tokens;
  settings.allowed_tokens = args.allowed_tokens;
  settings.seed = args.seed;
  return settings;
}

SamplingChoice choose_sampling(const SamplingArgs& args, const GenerationConfig& generation,
                               bool draw_seed) {
  std::vector<const char*> from;
  SamplingChoice choice;
  choice.settings = settings_of(args, generation, &from);
  if (draw_seed && !choice.settings.seed) choice.settings.seed = random_seed();
  choice.description = describe(choice.settings, from);
  return choice;
}

}  // namespace lockstep
