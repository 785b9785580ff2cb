#include "bench/read_memory.h"

namespace lockstep::LOCKSTEP_ISA {
namespace {

// Two pages ahead: hardware prefetchers stop at the end of a page.
constexpr size_t kAhead = 1024;
constexpr size_t kStep = 32;  // words of four cache lines

}  // namespace

uint64_t read_memory(std::span<const uint64_t> words) {
  uint64_t sums[kStep] = {};
  size_t i = 0;
  for (; i + kStep <= words.size(); i += kStep) {
    for (size_t line = 0; line < kStep; line += 8) {
      __builtin_prefetch(words.data() + i + kAhead + line);
    }
    for (size_t j = 0; j < kStep; ++j) sums[j] ^= words[i + j];
  }
  for (; i < words.size(); ++i) sums[0] ^= words[i];
  uint64_t all = 0;
  for (const uint64_t sum : sums) all ^= sum;
  return all;
}

}  // namespace lockstep::LOCKSTEP_ISA
