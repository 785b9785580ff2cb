// libFuzzer target: the safetensors container. Whatever is accepted must lie inside the file.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "checkpoint/safetensors.h"

namespace {

// An odd first byte: the rest is the file. An even one: the rest is a header up to a zero byte, and
// data, put together with the right length, so that mutations reach the header's contents.
std::string make_file(const uint8_t* data, size_t size) {
  if (size == 0) return {};
  const std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) return rest;
  const size_t end = std::min(rest.find('\0'), rest.size());
  const uint64_t length = end;
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + rest.substr(0, end) + rest.substr(std::min(end + 1, rest.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file = make_file(data, size);
  const auto header = lockstep::parse_safetensors(std::as_bytes(std::span(file)), "fuzz");
  if (!header.ok()) return 0;
  size_t end = 0;
  for (const lockstep::SafetensorsEntry& entry : header.value().entries) {
    LOCKSTEP_CHECK(entry.begin <= file.size() && entry.bytes <= file.size() - entry.begin,
                   "a tensor lies outside its file");
    LOCKSTEP_CHECK(entry.bytes == 0 || entry.begin >= end, "two tensors overlap");
    if (entry.bytes > 0) end = entry.begin + entry.bytes;
    uint64_t product = lockstep::size_of(entry.dtype);
    for (const int64_t extent : entry.shape) product *= static_cast<uint64_t>(extent);
    LOCKSTEP_CHECK(product == entry.bytes, "a tensor's size is not its shape's");
  }
  return 0;
}
