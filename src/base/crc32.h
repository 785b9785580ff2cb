// CRC-32 as zlib and Python's zlib.crc32 compute it: tells a damaged file, not a forged one.
#pragma once

#include <boost/crc.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

namespace lockstep {

// Of all that was added, in order.
class Crc32 {
 public:
  void add(std::span<const std::byte> bytes) { crc_.process_bytes(bytes.data(), bytes.size()); }
  uint32_t value() const { return crc_.checksum(); }

 private:
  boost::crc_32_type crc_;
};

}  // namespace lockstep
