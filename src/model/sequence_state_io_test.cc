#include "model/sequence_state_io.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "model/testing/runner.h"

namespace lockstep {
namespace {

using testing::fingerprint;
using testing::Runner;
using Bytes = std::vector<std::byte>;

Bytes stored(const SequenceState& state) {
  Bytes bytes;
  store_state(state, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  EXPECT_EQ(bytes.size(), stored_bytes(state.shape(), state.position()));
  return bytes;
}

class SequenceStateIo : public ::testing::TestWithParam<Precision> {
 protected:
  SequenceStateIo()
      : model_(testing::load_embedded("tiny-dense-mlx-4bit", GetParam())),
        runner_(model_),
        ids_(140) {
    std::iota(ids_.begin(), ids_.end(), 100);
  }

  SequenceState state_after(int64_t length) {
    SequenceState state = runner_.new_sequence();
    if (length > 0) runner_.read(state, std::span(ids_).first(static_cast<size_t>(length)), 256);
    return state;
  }

  Model model_;
  Runner runner_;
  std::vector<int32_t> ids_;
};

TEST_P(SequenceStateIo, ComesBackWithItsBitsAndGoesOnWithThem) {
  for (const int64_t length : {0, 1, 63, 64, 65, 128, 130}) {
    SequenceState state = state_after(length);
    SequenceState copy = runner_.new_sequence();
    ASSERT_TRUE(read_state(stored(state), copy).ok());
    EXPECT_EQ(copy.position(), length);
    EXPECT_EQ(fingerprint(copy), fingerprint(state)) << length;
    const auto rest = std::span(ids_).subspan(static_cast<size_t>(length));
    EXPECT_EQ(runner_.read(copy, rest, 5), runner_.read(state, rest, 256)) << length;
    EXPECT_EQ(fingerprint(copy), fingerprint(state)) << length;
  }
}

// Rows beyond the committed ones, of rejected drafts say, are not part of a state.
TEST_P(SequenceStateIo, TheBytesAreAFunctionOfTheCommittedTokens) {
  SequenceState state = state_after(70);
  const Bytes before = stored(state);
  RowBatch batch;
  batch.segments = {{.sequence = &state, .rows = 3}};
  batch.ids = {5, 6, 7};
  ASSERT_TRUE(runner_.pass().forward(batch).ok());
  EXPECT_EQ(stored(state), before);
  SequenceState by_rows = runner_.new_sequence();
  runner_.read(by_rows, std::span(ids_).first(70), 1);
  EXPECT_EQ(stored(by_rows), before);
}

TEST_P(SequenceStateIo, WhatIsNotAStateOfThisShapeIsRefused) {
  const Bytes good = stored(state_after(3));
  const auto error = [&](const Bytes& bytes) {
    SequenceState state = runner_.new_sequence();
    const Status status = read_state(bytes, state);
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(state.position(), 0);
    return status.ok() ? ErrorCode::kInvalidArgument : status.error().code;
  };
  for (const size_t size : {size_t{0}, size_t{1}, size_t{71}, size_t{72}, good.size() - 1}) {
    EXPECT_EQ(error(Bytes(good.begin(), good.begin() + static_cast<int64_t>(size))),
              ErrorCode::kBadFile)
        << size;
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_EQ(error(longer), ErrorCode::kBadFile);
  for (size_t at = 0; at < 72; ++at) {  // each byte of the header
    Bytes bad = good;
    bad[at] ^= std::byte{0x40};
    const ErrorCode code = error(bad);
    EXPECT_TRUE(code == ErrorCode::kBadFile || code == ErrorCode::kUnsupported) << at;
  }
  for (const size_t at : {size_t{72}, good.size() - 4}) {  // the first state, the last value
    Bytes bad = good;
    const uint32_t not_finite = 0x7f807f80;
    std::memcpy(bad.data() + at, &not_finite, 4);
    EXPECT_EQ(error(bad), ErrorCode::kBadFile) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, SequenceStateIo,
                         ::testing::Values(Precision::kInt8, Precision::kFull),
                         [](const auto& param_info) {
                           return std::string(to_string(param_info.param));
                         });

}  // namespace
}  // namespace lockstep
