#include "bench/read_bandwidth.h"

#include <gtest/gtest.h>

#include <vector>

#include "bench/read_memory.h"
#include "kernels/contract/contexts.h"
#include "kernels/launch.h"

namespace lockstep::bench {
namespace {

uint64_t read_with(Isa isa, std::span<const uint64_t> words) {
  constexpr KernelRow<uint64_t(std::span<const uint64_t>)> kRows[] = {
      LOCKSTEP_KERNEL_ROWS(read_memory)};
  return row_of(kRows, isa).function(words);
}

TEST(ReadMemory, ReadsEveryWordOnce) {
  for (const Isa isa : contract::available_isas()) {
    for (const size_t size : {0u, 1u, 31u, 32u, 33u, 200u}) {
      std::vector<uint64_t> words(size);
      uint64_t want = 0;
      for (size_t i = 0; i < size; ++i) want ^= words[i] = (i + 1) * 0x9e3779b97f4a7c15u;
      EXPECT_EQ(read_with(isa, words), want) << to_string(isa) << ", " << size;
    }
  }
}

TEST(ReadBandwidth, IsARateOfTheWholeMemory) {
  auto bandwidth = ReadBandwidth::make(3 << 20);
  ASSERT_TRUE(bandwidth.ok());
  EXPECT_GT(bandwidth.value().measure(contract::default_context()), 1e6);
}

}  // namespace
}  // namespace lockstep::bench
