#include "sampling/noise.h"

#include <bit>

#include "base/real_math.h"

namespace lockstep {

PhiloxBlock philox4x32(PhiloxBlock counter, uint64_t key) {
  auto key0 = static_cast<uint32_t>(key);
  auto key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53u} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {
        static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(product1),
        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(product0)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

uint64_t uniform_odd53(const NoiseKey& key, uint32_t token) {
  const PhiloxBlock block = philox4x32({token, key.position, key.reply_index, key.draw}, key.seed);
  const uint64_t bits = uint64_t{block[1]} << 32 | block[0];
  return bits >> 11 | 1;
}

double gumbel(uint64_t odd53) {
  const double v = static_cast<double>(odd53) * 0x1p-53;
  return -real_math::log(-real_math::log1p(-v));
}

double gumbel_bound(uint64_t odd53) {
  constexpr double kLn2 = 0x1.62e42fefa39f0p-1;  // rounded up
  // The slack is far above the error of the two logarithms of gumbel().
  return kLn2 * (54 - std::bit_width(odd53)) + 1e-9;
}

}  // namespace lockstep
