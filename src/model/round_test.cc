// What a round refuses. That no schedule changes a bit is checked by verify/exact.
#include <gtest/gtest.h>

#include "model/testing/runner.h"

namespace lockstep {
namespace {

using testing::Runner;

class Round : public ::testing::TestWithParam<const char*> {
 protected:
  Model model_ = testing::load_embedded(GetParam(), Precision::kInt8);
  Runner runner_{model_};
  SequenceState sequence_ = runner_.new_sequence();
};

TEST_P(Round, IdsOutsideTheVocabularyAreRefused) {
  RowBatch batch;
  batch.segments = {{.sequence = &sequence_, .rows = 1}};
  for (const int32_t id : {-1, static_cast<int32_t>(model_.config().vocab_size)}) {
    batch.ids = {id};
    const Result<RoundOutput> output = runner_.pass().forward(batch);
    ASSERT_FALSE(output.ok());
    EXPECT_NE(output.error().message.find("vocabulary"), std::string::npos);
  }
  EXPECT_EQ(sequence_.position(), 0);
}

TEST_P(Round, RecurrentStateCannotBeCutBack) {
  const std::vector<int32_t> ids = {3, 14, 15, 92, 65};
  runner_.read(sequence_, ids, 5);
  EXPECT_FALSE(sequence_.truncate(3));
  EXPECT_EQ(sequence_.position(), 5);
  EXPECT_TRUE(sequence_.truncate(5)) << "where it stands";
}

INSTANTIATE_TEST_SUITE_P(Embedded, Round, lockstep::testing::kEmbeddedModels,
                         lockstep::testing::embedded_test_name);

}  // namespace
}  // namespace lockstep
