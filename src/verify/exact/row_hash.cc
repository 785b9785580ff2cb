#include "verify/exact/row_hash.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace lockstep::verify {

BitHash hash_bits(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

BitHash hash_bits(std::span<const float> values) { return hash_bits(std::as_bytes(values)); }

BitHash hash_bits(std::span<const BitHash> hashes) { return hash_bits(std::as_bytes(hashes)); }

std::string to_string(const BitHash& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

}  // namespace lockstep::verify
