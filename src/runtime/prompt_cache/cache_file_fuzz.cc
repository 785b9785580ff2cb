// libFuzzer target: cache files and the states in them. Whatever is accepted is consistent, and a
// state that was refused is as it was.
//
// The hashes of a file keep mutations out: an even first byte asks for them to be put right. 3
// modulo 4: the rest is a state.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/hash128.h"
#include "runtime/prompt_cache/cache_file.h"
#include "runtime/prompt_cache/fake_model_test.h"

namespace lockstep {
namespace {

constexpr size_t kHash = 16;

void put_hash(std::vector<std::byte>& file, size_t end) {
  if (end < kHash || end > file.size()) return;
  const Hash128 hash = hash128(std::span(file).first(end - kHash));
  std::memcpy(file.data() + end - kHash, &hash, kHash);
}

void put_hashes(std::vector<std::byte>& file) {
  const auto head = cache_head_bytes(file, file.size());
  if (!head.ok()) return;
  put_hash(file, head.value());
  put_hash(file, file.size());
}

void try_state(std::span<const std::byte> bytes) {
  SequenceState state = fake_state();
  const Status status = read_state(bytes, state);
  if (!status.ok()) {
    LOCKSTEP_CHECK(state.position() == 0, "a refused state left something behind");
    return;
  }
  const std::vector<std::byte> again = bytes_of(state);
  // Recurrent state before the first token is always that of a fresh sequence.
  if (state.position() == 0) return;
  LOCKSTEP_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()),
                 "a state did not come back as it was");
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lockstep;
  if (size == 0) return 0;
  const auto rest = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] % 4 == 3) {
    try_state(rest);
    return 0;
  }
  std::vector<std::byte> file(rest.begin(), rest.end());
  if (data[0] % 2 == 0) put_hashes(file);
  const auto head = parse_cache_head(file, file.size(), "key", fake_shape());
  if (!head.ok()) return 0;
  LOCKSTEP_CHECK(cache_file_bytes(head.value(), fake_shape()) == file.size(), "a file's size");
  SequenceState state = fake_state();
  const Status status = parse_cache_file(file, "key", head.value().salt, head.value().ids, state);
  LOCKSTEP_CHECK(status.ok() || state.position() == 0, "a refused state left something behind");
  return 0;
}
