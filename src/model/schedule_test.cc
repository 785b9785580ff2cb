// The promise within one build: the bits of every logit row, state and cache entry are the same in
// every schedule.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "model/testing/runner.h"

namespace lockstep {
namespace {

using testing::fingerprint;
using testing::Runner;

// Longer than one attention group of 256 keys, so that merges happen, and than four pages.
constexpr int64_t kLength = 270;

std::vector<int32_t> random_ids(int64_t count, uint32_t seed, const Model& model) {
  std::mt19937 random(seed);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  const auto vocab = static_cast<uint32_t>(model.config().vocab_size);
  for (int32_t& id : ids) id = static_cast<int32_t>(random() % vocab);
  return ids;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

struct Case {
  const char* name;
  const char* model;
  Precision precision;
};

class Schedule : public ::testing::TestWithParam<Case> {
 protected:
  size_t vocab() const { return static_cast<size_t>(model_.config().vocab_size); }

  Model model_ = testing::load_embedded(GetParam().model, GetParam().precision);
  std::vector<int32_t> ids_ = random_ids(kLength, 11, model_);
};

TEST_P(Schedule, ChunksChangeNothing) {
  Runner runner(model_);
  SequenceState whole = runner.new_sequence();
  const std::vector<float> want = runner.read(whole, ids_, kLength);
  for (int64_t chunk : {1, 2, 3, 7, 16, 63, 64, 65, 128, 255, 256, 257}) {
    SequenceState sequence = runner.new_sequence();
    const std::vector<float> got = runner.read(sequence, ids_, chunk);
    EXPECT_TRUE(same_bits(got, want)) << "chunk " << chunk;
    EXPECT_EQ(fingerprint(sequence), fingerprint(whole)) << "chunk " << chunk;
  }
}

TEST_P(Schedule, ThreadsAndInstructionSetsChangeNothing) {
  const std::span<const int32_t> ids = std::span<const int32_t>(ids_).first(70);
  Runner first(model_, 1, best_isa());
  SequenceState state = first.new_sequence();
  const std::vector<float> want = first.read(state, ids, 33);
  for (int threads : {2, 3, 7}) {
    Runner runner(model_, threads, best_isa());
    SequenceState sequence = runner.new_sequence();
    EXPECT_TRUE(same_bits(runner.read(sequence, ids, 33), want)) << threads << " threads";
  }
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (!isa_available(isa)) continue;
    const std::span<const int32_t> some = ids.first(isa == Isa::kScalar ? 9 : ids.size());
    Runner runner(model_, 2, isa);
    SequenceState sequence = runner.new_sequence();
    const std::vector<float> got = runner.read(sequence, some, 33);
    EXPECT_TRUE(same_bits(got, std::span<const float>(want).first(got.size()))) << to_string(isa);
  }
}

// Rounds of several streams at staggered positions, decode rows beside prompt chunks.
TEST_P(Schedule, NeighboursChangeNothing) {
  Runner runner(model_);
  constexpr int kStreams = 8;
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::vector<float>> want;
  for (int stream = 0; stream < kStreams; ++stream) {
    ids.push_back(random_ids(40 + 5 * stream, 100u + static_cast<uint32_t>(stream), model_));
    SequenceState sequence = runner.new_sequence();
    want.push_back(runner.read(sequence, ids.back(), 256));
  }
  std::mt19937 random(5);
  std::vector<SequenceState> sequences;
  for (int stream = 0; stream < kStreams; ++stream) sequences.push_back(runner.new_sequence());
  std::vector<std::vector<float>> got(kStreams);
  while (true) {
    RowBatch batch;
    std::vector<int> streams;
    for (int stream = 0; stream < kStreams; ++stream) {
      SequenceState& sequence = sequences[static_cast<size_t>(stream)];
      const auto& own = ids[static_cast<size_t>(stream)];
      const int64_t left = static_cast<int64_t>(own.size()) - sequence.position();
      if (left == 0 || random() % 3 == 0) continue;
      const int64_t rows = random() % 2 == 0 ? 1 : std::min<int64_t>(left, 1 + random() % 17);
      batch.segments.push_back({.sequence = &sequence, .rows = rows});
      batch.ids.insert(batch.ids.end(), own.begin() + sequence.position(),
                       own.begin() + sequence.position() + rows);
      streams.push_back(stream);
    }
    if (streams.empty()) {
      if (std::all_of(sequences.begin(), sequences.end(),
                      [&, i = size_t{0}](const SequenceState& s) mutable {
                        return s.position() == static_cast<int64_t>(ids[i++].size());
                      })) {
        break;
      }
      continue;
    }
    for (int64_t row = 0; row < batch.rows(); ++row) batch.logit_rows.push_back(row);
    const Result<RoundOutput> output = runner.pass().forward(batch);
    ASSERT_TRUE(output.ok()) << output.error().message;
    std::span<const float> logits = output.value().logits;
    for (size_t i = 0; i < streams.size(); ++i) {
      const auto size = static_cast<size_t>(batch.segments[i].rows) * vocab();
      auto& own = got[static_cast<size_t>(streams[i])];
      own.insert(own.end(), logits.begin(), logits.begin() + static_cast<std::ptrdiff_t>(size));
      logits = logits.subspan(size);
    }
    runner.pass().commit(batch);
  }
  for (size_t stream = 0; stream < kStreams; ++stream) {
    EXPECT_TRUE(same_bits(got[stream], want[stream])) << "stream " << stream;
  }
}

// Draft windows: rows that turn out wrong leave no trace, rows that were right equal those read one
// by one.
TEST_P(Schedule, WindowsLeaveOnlyTheirAcceptedRows) {
  Runner runner(model_);
  const std::span<const int32_t> ids = std::span<const int32_t>(ids_).first(80);
  SequenceState serial = runner.new_sequence();
  const std::vector<float> want = runner.read(serial, ids, 1);
  constexpr int64_t kWindow = 9;
  WindowTrace trace(model_.config(), kWindow);
  std::mt19937 random(3);
  SequenceState sequence = runner.new_sequence();
  while (sequence.position() < static_cast<int64_t>(ids.size())) {
    const int64_t position = sequence.position();
    const int64_t rows = 1 + random() % kWindow;
    const int64_t right =
        std::min<int64_t>(random() % (rows + 1), static_cast<int64_t>(ids.size()) - position);
    RowBatch batch;
    batch.segments = {{.sequence = &sequence, .rows = rows, .window = &trace}};
    for (int64_t row = 0; row < rows; ++row) {
      batch.ids.push_back(row < right ? ids[static_cast<size_t>(position + row)]
                                      : static_cast<int32_t>(random() % vocab()));
      batch.logit_rows.push_back(row);
    }
    const Result<RoundOutput> output = runner.pass().forward(batch);
    ASSERT_TRUE(output.ok()) << output.error().message;
    const auto size = static_cast<size_t>(right) * vocab();
    EXPECT_TRUE(same_bits(
        output.value().logits.first(size),
        std::span<const float>(want).subspan(static_cast<size_t>(position) * vocab(), size)))
        << "window at " << position << ", " << right << " of " << rows << " right";
    const int64_t accepted[] = {right};
    runner.pass().commit(batch, accepted);
  }
  EXPECT_EQ(fingerprint(sequence), fingerprint(serial));
}

// Two continuations of one snapshot share its pages; neither sees the other's writes.
TEST_P(Schedule, SnapshotsGoTheirOwnWay) {
  Runner runner(model_);
  const std::span<const int32_t> ids = std::span<const int32_t>(ids_).first(100);
  const std::vector<int32_t> other = random_ids(30, 77, model_);
  SequenceState straight = runner.new_sequence();
  const std::vector<float> want = runner.read(straight, ids, 256);
  SequenceState sequence = runner.new_sequence();
  runner.read(sequence, ids.first(70), 256);
  SequenceState copy = sequence.snapshot();
  std::vector<float> got = runner.read(copy, ids.subspan(70, 10), 7);
  runner.read(sequence, other, 4);  // writes the same positions of what was one page
  EXPECT_FALSE(sequence.truncate(70)) << "recurrent state cannot be cut back";
  const std::vector<float> rest = runner.read(copy, ids.subspan(80), 7);
  got.insert(got.end(), rest.begin(), rest.end());
  EXPECT_TRUE(same_bits(got, std::span<const float>(want).subspan(70 * vocab())));
  EXPECT_EQ(fingerprint(copy), fingerprint(straight));
}

// State kept on the way through a chunk is what a chunk that ends there leaves.
TEST_P(Schedule, MarksAreSnapshotsOfTheMiddleOfAChunk) {
  Runner runner(model_);
  const std::span<const int32_t> ids = std::span<const int32_t>(ids_).first(100);
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

TEST_P(Schedule, AStateThatWasUsedBeforeBecomesACopyOrEmpty) {
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

TEST_P(Schedule, UncommittedRoundsLeaveNothing) {
  Runner runner(model_);
  const std::span<const int32_t> ids = std::span<const int32_t>(ids_).first(40);
  SequenceState sequence = runner.new_sequence();
  runner.read(sequence, ids.first(20), 256);
  const std::vector<std::byte> before = fingerprint(sequence);
  RowBatch batch;
  batch.segments = {{.sequence = &sequence, .rows = 20}};
  batch.ids.assign(ids.begin() + 20, ids.end());
  ASSERT_TRUE(runner.pass().forward(batch).ok());
  EXPECT_EQ(fingerprint(sequence), before);
}

TEST_P(Schedule, BadBatchesAreRefused) {
  Runner runner(model_);
  SequenceState sequence = runner.new_sequence();
  RowBatch batch;
  batch.segments = {{.sequence = &sequence, .rows = 1}};
  for (int32_t id : {-1, static_cast<int32_t>(vocab())}) {
    batch.ids = {id};
    const Result<RoundOutput> output = runner.pass().forward(batch);
    ASSERT_FALSE(output.ok());
    EXPECT_NE(output.error().message.find("vocabulary"), std::string::npos);
  }
  EXPECT_EQ(sequence.position(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Embedded, Schedule,
    ::testing::Values(Case{"DenseInt8", "tiny-dense-mlx-4bit", Precision::kInt8},
                      Case{"DenseFull", "tiny-dense-mlx-4bit", Precision::kFull},
                      Case{"MoeInt8", "tiny-moe-mlx-4bit", Precision::kInt8},
                      Case{"MoeFull", "tiny-moe-mlx-4bit", Precision::kFull}),
    [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace lockstep
