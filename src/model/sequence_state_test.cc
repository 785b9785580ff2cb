// Copies of a sequence's state, whole or from the middle of a chunk.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "model/testing/runner.h"

namespace lockstep {
namespace {

using testing::fingerprint;
using testing::Runner;

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

class States : public ::testing::TestWithParam<const char*> {
 protected:
  States() {
    std::mt19937 random(11);
    for (int32_t& id : ids_) id = static_cast<int32_t>(random() % vocab());
  }
  size_t vocab() const { return static_cast<size_t>(model_.config().vocab_size); }

  Model model_ = testing::load_embedded(GetParam(), Precision::kInt8);
  std::vector<int32_t> ids_ = std::vector<int32_t>(100);
};

// State kept on the way through a chunk is what a chunk that ends there leaves.
TEST_P(States, MarksAreSnapshotsOfTheMiddleOfAChunk) {
  Runner runner(model_);
  const std::span<const int32_t> ids = ids_;
  SequenceState plain = runner.new_sequence();
  const std::vector<float> want = runner.read(plain, ids, 256);
  SequenceState sequence = runner.new_sequence();
  SequenceState neighbour = runner.new_sequence();
  runner.read(sequence, ids.first(10), 256);
  std::vector<StateMark> marks;
  for (const int64_t position : {11, 63, 99}) marks.push_back({.position = position});
  RowBatch batch;
  batch.segments = {{.sequence = &neighbour, .rows = 20},
                    {.sequence = &sequence, .rows = 90, .marks = marks}};
  batch.ids.assign(ids.begin(), ids.begin() + 20);
  batch.ids.insert(batch.ids.end(), ids.begin() + 10, ids.end());
  batch.logit_rows = {19, 109};
  const Result<RoundOutput> output = runner.pass().forward(batch);
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_TRUE(
      same_bits(output.value().logits.last(vocab()), std::span<const float>(want).last(vocab())));
  EXPECT_TRUE(same_bits(output.value().logits.first(vocab()),
                        std::span<const float>(want).subspan(19 * vocab(), vocab())));
  runner.pass().commit(batch);
  EXPECT_EQ(fingerprint(sequence), fingerprint(plain));
  for (StateMark& mark : marks) {
    const int64_t position = mark.position;
    SequenceState middle = sequence.snapshot(std::move(mark));
    SequenceState short_one = runner.new_sequence();
    runner.read(short_one, ids.first(static_cast<size_t>(position)), 256);
    EXPECT_EQ(fingerprint(middle), fingerprint(short_one)) << "at " << position;
    const std::vector<float> rest =
        runner.read(middle, ids.subspan(static_cast<size_t>(position)), 256);
    EXPECT_TRUE(same_bits(rest, std::span<const float>(want).last(rest.size()))) << position;
  }
  EXPECT_EQ(fingerprint(sequence), fingerprint(plain)) << "a continuation wrote a shared page";
}

TEST_P(States, AStateThatWasUsedBeforeBecomesACopyOrEmpty) {
  Runner runner(model_);
  const std::span<const int32_t> ids = std::span<const int32_t>(ids_).first(90);
  SequenceState source = runner.new_sequence();
  runner.read(source, ids.first(70), 256);
  SequenceState used = runner.new_sequence();
  runner.read(used, ids.subspan(20), 256);
  used.assign(source);
  EXPECT_EQ(fingerprint(used), fingerprint(source));
  const std::vector<float> got = runner.read(used, ids.subspan(70), 256);
  used.clear();
  EXPECT_EQ(used.page_count(), 0);
  const std::vector<float> want = runner.read(used, ids, 256);
  EXPECT_TRUE(same_bits(got, std::span<const float>(want).last(got.size())));
}

INSTANTIATE_TEST_SUITE_P(Embedded, States, lockstep::testing::kEmbeddedModels,
                         lockstep::testing::embedded_test_name);

}  // namespace
}  // namespace lockstep
