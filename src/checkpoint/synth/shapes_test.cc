#include "checkpoint/synth/shapes.h"

#include <gtest/gtest.h>

#include <string>

#include "checkpoint/synth/modules.h"

namespace lockstep {
namespace {

// Counted from the published configurations of the released models.
TEST(SynthShapes, HaveThePublishedParameterCounts) {
  const struct {
    const char* name;
    int64_t text, mtp;
  } kPublished[] = {
      {"0.8b", 752'393'024, 20'452'864},    {"2b", 1'881'825'088, 60'828'160},
      {"4b", 4'205'751'296, 120'599'552},   {"9b", 8'953'803'264, 243'290'624},
      {"27b", 26'895'998'464, 424'699'392}, {"35b-a3b", 34'660'610'688, 844'640'768},
  };
  for (const auto& published : kPublished) {
    const auto shape = find_synth_shape(published.name);
    ASSERT_TRUE(shape.ok());
    const SynthParameters parameters = count_parameters(shape.value());
    EXPECT_EQ(parameters.text, published.text) << published.name;
    EXPECT_EQ(parameters.mtp, published.mtp) << published.name;
  }
}

TEST(SynthShapes, LargestDenseModelHasThePublishedTensorCounts) {
  int64_t trunk = 0;
  int64_t mtp = 0;
  for (const SynthModule& module : synth_modules(find_synth_shape("27b").value())) {
    ++(module.mtp() ? mtp : trunk);
  }
  EXPECT_EQ(trunk, 851);
  EXPECT_EQ(mtp, 15);
}

TEST(SynthShapes, MicroShapesCoverTheFamilysRatios) {
  bool ratios[9] = {};
  bool groups[9] = {};
  bool experts = false;
  for (const SynthShape& shape : synth_shapes()) {
    if (!shape.name.starts_with("micro-")) continue;
    ASSERT_EQ(shape.value_heads % shape.key_heads, 0);
    ASSERT_EQ(shape.heads % shape.kv_heads, 0);
    ratios[shape.value_heads / shape.key_heads] = true;
    groups[shape.heads / shape.kv_heads] = true;
    experts |= shape.experts == 256 && shape.experts_per_token == 8;
  }
  for (const int ratio : {1, 3, 8}) EXPECT_TRUE(ratios[ratio]) << ratio;
  for (const int group : {4, 6, 8}) EXPECT_TRUE(groups[group]) << group;
  EXPECT_TRUE(experts);
}

TEST(SynthShapes, AnUnknownNameListsTheKnownOnes) {
  const auto shape = find_synth_shape("7b");
  ASSERT_FALSE(shape.ok());
  EXPECT_EQ(shape.error().code, ErrorCode::kNotFound);
  for (const SynthShape& known : synth_shapes()) {
    EXPECT_NE(shape.error().message.find(known.name), std::string::npos) << known.name;
  }
}

}  // namespace
}  // namespace lockstep
