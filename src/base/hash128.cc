#include "base/hash128.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

namespace lockstep {
namespace {

Hash128 to_hash(const XXH128_hash_t& hash) { return {hash.high64, hash.low64}; }

}  // namespace

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 hash128(std::span<const std::byte> bytes) {
  return to_hash(XXH3_128bits(bytes.data(), bytes.size()));
}

struct Hasher128::State {
  XXH3_state_t xxh;  // over-aligned: operator new sees to it
};

void Hasher128::Free::operator()(State* state) const { delete state; }

Hasher128::Hasher128() : state_(new State) { XXH3_128bits_reset(&state_->xxh); }

void Hasher128::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

Hash128 Hasher128::finish() const { return to_hash(XXH3_128bits_digest(&state_->xxh)); }

}  // namespace lockstep
