#include "runtime/prompt_cache/cache_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/hash128.h"
#include "model/sequence_state_io.h"

namespace lockstep {
namespace {

constexpr std::array<char, 8> kMagic = {'L', 'S', 'P', 'C', 'A', 'C', 'H', 'E'};
constexpr uint32_t kVersion = 1;
constexpr uint32_t kMaxKeyBytes = 4096;
constexpr uint64_t kMaxIds = uint64_t{1} << 26;
constexpr size_t kHashBytes = 16;

struct FixedPart {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t kind = 0;
  uint32_t key_bytes = 0;
  uint32_t salt_bytes = 0;
  uint64_t id_count = 0;
  uint64_t state_bytes = 0;

  uint64_t head_bytes() const {
    return sizeof(FixedPart) + key_bytes + salt_bytes + id_count * sizeof(int32_t) + kHashBytes;
  }
  uint64_t file_bytes() const { return head_bytes() + state_bytes + kHashBytes; }
};
static_assert(sizeof(FixedPart) == 40, "no padding");

Error damaged(std::string message) { return {ErrorCode::kBadFile, std::move(message)}; }
Error foreign(std::string message) { return {ErrorCode::kUnsupported, std::move(message)}; }

FixedPart fixed_part_of(const CacheFileHead& head, const StateShape& shape) {
  FixedPart fixed;
  fixed.kind = static_cast<uint32_t>(head.kind);
  fixed.key_bytes = static_cast<uint32_t>(head.key.size());
  fixed.salt_bytes = static_cast<uint32_t>(head.salt.size());
  fixed.id_count = head.ids.size();
  fixed.state_bytes = stored_bytes(shape, static_cast<int64_t>(head.ids.size()));
  return fixed;
}

// The fixed part, with every size in it within its limit and all of them together the file's.
Result<FixedPart> parse_fixed_part(std::span<const std::byte> bytes, uint64_t file_bytes) {
  FixedPart fixed;
  if (bytes.size() < sizeof(fixed)) return damaged("a cache file without a whole head");
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  if (fixed.magic != kMagic) return foreign("no cache file");
  if (fixed.version != kVersion) {
    return foreign(fmt::format("a cache file of version {}; this program reads version {}",
                               fixed.version, kVersion));
  }
  const bool sane = fixed.kind < std::size(kSaveKinds) && fixed.key_bytes <= kMaxKeyBytes &&
                    fixed.salt_bytes <= kMaxSaltBytes && fixed.id_count >= 1 &&
                    fixed.id_count <= kMaxIds && fixed.state_bytes <= file_bytes;
  if (!sane) return damaged("a cache file whose head is damaged");
  if (fixed.file_bytes() == file_bytes) return fixed;
  return damaged(fmt::format("a cache file of {} bytes; by its head it must have {}", file_bytes,
                             fixed.file_bytes()));
}

bool hash_matches(std::span<const std::byte> bytes, const std::byte* stored) {
  const Hash128 hash = hash128(bytes);
  return std::memcmp(&hash, stored, kHashBytes) == 0;
}

// Gathers small pieces, hashes all and writes to a descriptor.
class Writer {
 public:
  explicit Writer(int descriptor) : descriptor_(descriptor) { buffer_.reserve(kBuffer); }

  void add(std::span<const std::byte> bytes) {
    hasher_.add(bytes);
    while (!bytes.empty() && failure_ == 0) {
      const size_t part = std::min(bytes.size(), kBuffer - buffer_.size());
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.begin() + static_cast<int64_t>(part));
      bytes = bytes.subspan(part);
      if (buffer_.size() == kBuffer) drain();
    }
  }
  void add_hash() {
    const Hash128 hash = hasher_.finish();
    add(std::as_bytes(std::span(&hash, 1)));
  }
  Status finish() {
    drain();
    if (failure_ == 0) return {};
    return Error{ErrorCode::kIo, fmt::format("writing: {}", std::strerror(failure_))};
  }

 private:
  static constexpr size_t kBuffer = size_t{1} << 20;

  void drain() {
    size_t done = 0;
    while (done < buffer_.size() && failure_ == 0) {
      const ssize_t written = write(descriptor_, buffer_.data() + done, buffer_.size() - done);
      if (written >= 0) {
        done += static_cast<size_t>(written);
      } else if (errno != EINTR) {
        failure_ = errno;
      }
    }
    buffer_.clear();
  }

  int descriptor_;
  int failure_ = 0;
  Hasher128 hasher_;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::string cache_file_name(std::string_view key, std::string_view salt,
                            std::span<const int32_t> ids) {
  Hasher128 hasher;
  for (const std::string_view text : {key, salt}) {
    const uint64_t size = text.size();
    hasher.add(std::as_bytes(std::span(&size, 1)));
    hasher.add(std::as_bytes(std::span(text)));
  }
  hasher.add(std::as_bytes(ids));
  return hasher.finish().hex() + ".state";
}

uint64_t cache_file_bytes(const CacheFileHead& head, const StateShape& shape) {
  return fixed_part_of(head, shape).file_bytes();
}

Status write_cache_file(int descriptor, const CacheFileHead& head, const SequenceState& state) {
  const FixedPart fixed = fixed_part_of(head, state.shape());
  Writer writer(descriptor);
  writer.add(std::as_bytes(std::span(&fixed, 1)));
  writer.add(std::as_bytes(std::span(head.key)));
  writer.add(std::as_bytes(std::span(head.salt)));
  writer.add(std::as_bytes(std::span(head.ids)));
  writer.add_hash();
  store_state(state, [&](std::span<const std::byte> piece) { writer.add(piece); });
  writer.add_hash();
  return writer.finish();
}

Result<uint64_t> cache_head_bytes(std::span<const std::byte> bytes, uint64_t file_bytes) {
  LOCKSTEP_ASSIGN_OR_RETURN(const FixedPart fixed, parse_fixed_part(bytes, file_bytes));
  return fixed.head_bytes();
}

Result<CacheFileHead> parse_cache_head(std::span<const std::byte> bytes, uint64_t file_bytes,
                                       std::string_view key, const StateShape& shape) {
  LOCKSTEP_ASSIGN_OR_RETURN(const FixedPart fixed, parse_fixed_part(bytes, file_bytes));
  if (bytes.size() < fixed.head_bytes()) return damaged("a cache file without a whole head");
  const size_t covered = fixed.head_bytes() - kHashBytes;
  if (!hash_matches(bytes.first(covered), bytes.data() + covered)) {
    return damaged("a cache file whose head does not have the hash it says");
  }
  CacheFileHead head;
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + sizeof(FixedPart);
  head.key.assign(text, fixed.key_bytes);
  head.salt.assign(text + fixed.key_bytes, fixed.salt_bytes);
  head.kind = static_cast<SaveKind>(fixed.kind);
  head.ids.resize(fixed.id_count);
  std::memcpy(head.ids.data(), text + fixed.key_bytes + fixed.salt_bytes,
              fixed.id_count * sizeof(int32_t));
  if (head.key != key) return foreign("a cache file of another checkpoint or precision tuple");
  if (fixed.state_bytes != stored_bytes(shape, static_cast<int64_t>(fixed.id_count))) {
    return foreign("a cache file of another shape of state");
  }
  return head;
}

Status parse_cache_file(std::span<const std::byte> bytes, std::string_view key,
                        std::string_view salt, std::span<const int32_t> ids, SequenceState& state) {
  LOCKSTEP_ASSIGN_OR_RETURN(const CacheFileHead head,
                            parse_cache_head(bytes, bytes.size(), key, state.shape()));
  if (head.salt != salt || !std::ranges::equal(head.ids, ids)) {
    return foreign("a cache file of other ids");
  }
  const size_t covered = bytes.size() - kHashBytes;
  if (!hash_matches(bytes.first(covered), bytes.data() + covered)) {
    return damaged("a cache file that does not have the hash it says");
  }
  const size_t head_bytes = cache_file_bytes(head, state.shape()) - kHashBytes -
                            stored_bytes(state.shape(), static_cast<int64_t>(ids.size()));
  return read_state(bytes.subspan(head_bytes, covered - head_bytes), state);
}

}  // namespace lockstep
