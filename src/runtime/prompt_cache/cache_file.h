// One saved state as a file. Whoever wrote it, nothing of it is believed before it was checked.
//
// Layout, little-endian: magic "LSPCACHE", uint32 version, uint32 kind, uint32 bytes of key, uint32
// bytes of salt, uint64 number of ids, uint64 bytes of state; key, salt, ids (int32); a hash of all
// that; the state (model/sequence_state_io.h); a hash of everything before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/sequence_state.h"
#include "runtime/prompt_cache/save_points.h"

namespace lockstep {

inline constexpr size_t kMaxSaltBytes = 256;

// What a state was saved for.
struct CacheFileHead {
  std::string key;  // precision tuple and content hash of the checkpoint
  std::string salt;
  SaveKind kind = SaveKind::kInterval;
  std::vector<int32_t> ids;
};

// Where such a state is looked for: a hash of key, salt and ids. The file says all three itself.
std::string cache_file_name(std::string_view key, std::string_view salt,
                            std::span<const int32_t> ids);

// Bytes of the file in all.
uint64_t cache_file_bytes(const CacheFileHead& head, const StateShape& shape);

// Writes to a descriptor. A full disk and the like are kIo.
Status write_cache_file(int descriptor, const CacheFileHead& head, const SequenceState& state);

// Reads the head alone, which its own hash covers, of a regular file that is as long as it says.
// kNotFound: there is none. kBadFile: truncated or damaged. kUnsupported: no file of ours, of
// another key or of another shape.
Result<CacheFileHead> read_cache_head(const std::filesystem::path& path, std::string_view key,
                                      const StateShape& shape);

// Reads all of it, checks both hashes, that it is for these ids and this salt, and fills `state`,
// which stands at position 0. Errors as above; a file for other ids or another salt is
// kUnsupported.
Status read_cache_file(const std::filesystem::path& path, std::string_view key,
                       std::string_view salt, std::span<const int32_t> ids, SequenceState& state);

// The two from memory: the first bytes of a file of `file_bytes`, how many of them the head takes,
// and a whole file.
Result<uint64_t> cache_head_bytes(std::span<const std::byte> bytes, uint64_t file_bytes);
Result<CacheFileHead> parse_cache_head(std::span<const std::byte> bytes, uint64_t file_bytes,
                                       std::string_view key, const StateShape& shape);
Status parse_cache_file(std::span<const std::byte> bytes, std::string_view key,
                        std::string_view salt, std::span<const int32_t> ids, SequenceState& state);

}  // namespace lockstep
