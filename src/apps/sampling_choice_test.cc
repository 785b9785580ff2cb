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

TEST(SamplingChoice, PenaltiesOfTheCheckpointAreUsedAndShown) {
  GenerationConfig generation;
  generation.repetition_penalty = 1.0;
  generation.presence_penalty = 1.5;
  SamplingArgs args;
  args.seed = 1;
  args.frequency_penalty = 0.25;
  args.penalty_window = 64;
  args.banned_tokens = {5, 6};
  const SamplingChoice choice = choose_sampling(args, generation);
  EXPECT_EQ(choice.settings.presence_penalty, 1.5);
  EXPECT_EQ(choice.settings.frequency_penalty, 0.25);
  EXPECT_EQ(choice.settings.penalty_window, 64);
  EXPECT_EQ(choice.settings.banned_tokens, (std::vector<int32_t>{5, 6}));
  EXPECT_EQ(choice.description,
            "temperature 1, presence penalty 1.5, frequency penalty 0.25, penalty window 64, "
            "banned tokens: 2, seed 1 (repetition penalty, presence penalty from "
            "generation_config.json)");
}

}  // namespace
}  // namespace lockstep
