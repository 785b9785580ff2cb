#include "kernels/kv_store/kv_store.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/contract/compare.h"
#include "kernels/contract/contexts.h"
#include "kernels/contract/random.h"
#include "kernels/kv_store/reference.h"

namespace lockstep::contract {
namespace {

// Blocks of two sequences between guard bands, all marked.
struct Cache {
  static constexpr size_t kBand = 64;
  static constexpr int64_t kBlocks = 4;  // two of each sequence
  KvShape shape;
  std::vector<std::byte> storage;
  std::vector<std::byte*> blocks;

  explicit Cache(const KvShape& kv)
      : shape(kv), storage(kBlocks * (kv.block_bytes() + kBand) + kBand, std::byte{0xa5}) {
    // Out of order in memory, as a pool gives them.
    for (size_t b : {2u, 0u, 3u, 1u}) {
      blocks.push_back(storage.data() + kBand + b * (kv.block_bytes() + kBand));
    }
  }
};

template <typename Store>
std::vector<std::byte> stored(const KvShape& shape, const std::vector<float>& k,
                              const std::vector<float>& v, const Store& store) {
  Cache cache(shape);
  const KvSequence sequences[] = {
      {.first_row = 0, .rows = 70, .first_position = 31, .blocks = cache.blocks.data()},
      {.first_row = 70, .rows = 0, .first_position = 0, .blocks = cache.blocks.data() + 2},
      {.first_row = 70, .rows = 1, .first_position = 127, .blocks = cache.blocks.data() + 2}};
  store(KvStoreArgs{
      .shape = shape, .k = k.data(), .v = v.data(), .sequences = sequences, .sequence_count = 3});
  return cache.storage;
}

TEST(KvStore, WritesTheRoundedRowsAndNothingElseInEveryContext) {
  for (KvType type : {KvType::kBf16, KvType::kF32}) {
    for (const auto& [heads, head_dim] : {std::pair<int64_t, int64_t>{1, 16}, {2, 256}, {3, 48}}) {
      const KvShape shape{type, heads, head_dim};
      Random random(1);
      std::vector<float> k = random.normals(71 * heads * head_dim);
      std::vector<float> v = random.normals(71 * heads * head_dim, 1e-3);
      k[0] = std::numeric_limits<float>::infinity();
      k[1] = 0x1.fffffep127f;   // rounds to infinity in bf16
      k[2] = 1.0f + 0x1p-8f;    // a tie
      k[3] = 1.0f + 0x1.8p-7f;  // a tie upwards
      k[4] = 0x1p-149f;
      k[5] = -0.0f;
      v[0] = std::numeric_limits<float>::quiet_NaN();
      const auto want = stored(shape, k, v, reference_kv_store);
      for_each_context([&](const CpuContext& context, const std::string& name) {
        EXPECT_EQ(
            stored(shape, k, v, [&](const KvStoreArgs& args) { run_kv_store(context, args); }),
            want)
            << name;
      });
    }
  }
}

}  // namespace
}  // namespace lockstep::contract
