// CRC-32 as zlib and Python's zlib.crc32 compute it: tells a damaged file, not a forged one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

// Of `bytes` appended to what `crc` is the checksum of; 0 begins.
uint32_t crc32(uint32_t crc, std::span<const std::byte> bytes);

}  // namespace lockstep
