// Hashes that stand for bits: equal bits have equal hashes on every machine and build.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace lockstep::verify {

// XXH3 with 128 bits. Data is hashed as it lies in memory: little-endian on all machines that the
// engine runs on.
struct BitHash {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const BitHash&) const = default;
};

BitHash hash_bits(std::span<const std::byte> bytes);
BitHash hash_bits(std::span<const float> values);
// Of hashes, in their order.
BitHash hash_bits(std::span<const BitHash> hashes);

// 32 hexadecimal digits.
std::string to_string(const BitHash& hash);

}  // namespace lockstep::verify
