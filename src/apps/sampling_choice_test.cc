#include "apps/sampling_choice.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

GenerationConfig recommended() {
  GenerationConfig generation;
  generation.temperature = 0.7;
  generation.top_k = 20;
  generation.top_p = 0.95;
  return generation;
}

TEST(SamplingChoice, TheCommandLineWinsOverTheCheckpointOverNeutral) {
  SamplingArgs args;
  args.top_k = 5;
  args.seed = 9;
  const SamplingChoice choice = choose_sampling(args, recommended());
  EXPECT_EQ(choice.settings.temperature, 0.7);
  EXPECT_EQ(choice.settings.top_k, 5);
  EXPECT_EQ(choice.settings.top_p, 0.95);
  EXPECT_EQ(choice.settings.min_p, 0.0);
  EXPECT_EQ(choice.settings.seed, 9u);
  EXPECT_EQ(choice.description,
            "temperature 0.7, top-k 5, top-p 0.95, seed 9 (temperature, top-p from "
            "generation_config.json)");
}

TEST(SamplingChoice, WithoutAdviceItIsTheModelsOwnDistribution) {
  SamplingArgs args;
  args.seed = 1;
  EXPECT_EQ(choose_sampling(args, {}).description, "temperature 1, seed 1");
  const SamplingChoice a = choose_sampling({}, {});
  ASSERT_TRUE(a.settings.seed.has_value());
  EXPECT_NE(a.settings.seed, choose_sampling({}, {}).settings.seed);
}

TEST(SamplingChoice, DoSampleFalseMeansGreedyUnlessATemperatureIsTyped) {
  GenerationConfig generation = recommended();
  generation.do_sample = false;
  EXPECT_EQ(choose_sampling({}, generation).settings.temperature, 0.0);
  SamplingArgs args;
  args.temperature = 1.5;
  EXPECT_EQ(choose_sampling(args, generation).settings.temperature, 1.5);
}

TEST(SamplingChoice, PenaltiesThatAreNotAppliedAreNamed) {
  GenerationConfig generation = recommended();
  generation.repetition_penalty = 1.0;
  EXPECT_TRUE(choose_sampling({}, generation).warnings.empty());
  generation.repetition_penalty = 1.05;
  generation.presence_penalty = 1.5;
  const auto warnings = choose_sampling({}, generation).warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("repetition_penalty 1.05"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
