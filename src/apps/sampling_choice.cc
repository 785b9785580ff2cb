#include "apps/sampling_choice.h"

#include <fmt/format.h>

namespace lockstep {
namespace {

// One setting; notes whether the checkpoint decided it.
template <typename T>
T pick(const std::optional<T>& typed, const std::optional<T>& recommended, T neutral, bool& used) {
  if (typed) return *typed;
  if (!recommended) return neutral;
  used = true;
  return *recommended;
}

void warn_of_penalty(const char* name, const std::optional<double>& value, double neutral,
                     std::vector<std::string>& warnings) {
  if (!value || *value == neutral) return;
  warnings.push_back(fmt::format(
      "generation_config.json recommends {} {}; penalties are not supported yet", name, *value));
}

std::string describe(const SamplingSettings& settings, bool recommended) {
  const std::string source = recommended ? " (from generation_config.json)" : "";
  if (settings.temperature == 0.0) return "temperature 0: always the likeliest token";
  std::string text = fmt::format("temperature {}", settings.temperature);
  if (settings.top_k > 0) text += fmt::format(", top-k {}", settings.top_k);
  if (settings.top_p < 1.0) text += fmt::format(", top-p {}", settings.top_p);
  if (settings.min_p > 0.0) text += fmt::format(", min-p {}", settings.min_p);
  return fmt::format("{}{}, seed {}", text, source, *settings.seed);
}

}  // namespace

SamplingChoice choose_sampling(const SamplingArgs& args, const GenerationConfig& generation) {
  const bool greedy = generation.do_sample == false;
  const auto temperature = greedy ? std::optional(0.0) : generation.temperature;
  const SamplingSettings neutral;
  SamplingChoice choice;
  bool recommended = false;
  choice.settings.temperature =
      pick(args.temperature, temperature, neutral.temperature, recommended);
  choice.settings.top_k = pick(args.top_k, generation.top_k, neutral.top_k, recommended);
  choice.settings.top_p = pick(args.top_p, generation.top_p, neutral.top_p, recommended);
  choice.settings.min_p = pick(args.min_p, generation.min_p, neutral.min_p, recommended);
  choice.settings.seed = args.seed ? *args.seed : random_seed();
  choice.description = describe(choice.settings, recommended);
  warn_of_penalty("repetition_penalty", generation.repetition_penalty, 1.0, choice.warnings);
  warn_of_penalty("presence_penalty", generation.presence_penalty, 0.0, choice.warnings);
  warn_of_penalty("frequency_penalty", generation.frequency_penalty, 0.0, choice.warnings);
  return choice;
}

}  // namespace lockstep
