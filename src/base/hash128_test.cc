#include "base/hash128.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace lockstep {
namespace {

// The hash of nothing, as xxhsum -H2 prints it: files written by one build are read by the next.
TEST(Hash128, HasThePublishedValueOfNothing) {
  EXPECT_EQ(hash128({}).hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash128, PiecesGiveTheHashOfTheWhole) {
  std::vector<std::byte> bytes(5000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 >> 3);
  for (const size_t piece : {1u, 7u, 64u, 240u, 4999u}) {
    Hasher128 hasher;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      hasher.add(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    }
    EXPECT_EQ(hasher.finish(), hash128(bytes)) << piece;
  }
}

TEST(Hash128, EveryByteMatters) {
  std::vector<std::byte> bytes(300);
  const Hash128 hash = hash128(bytes);
  for (std::byte& byte : bytes) {
    byte ^= std::byte{1};
    EXPECT_NE(hash128(bytes), hash);
    byte ^= std::byte{1};
  }
}

}  // namespace
}  // namespace lockstep
