#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/crc32.h"
#include "checkpoint/safetensors.h"
#include "verify/stages/dump.h"

namespace lockstep::verify {
namespace {

constexpr size_t kSizeDigits = 16;
constexpr size_t kCrcDigits = 8;
constexpr size_t kMaxHeader = 16 << 20;

// Where the digits of `key` stand in the file's header; exactly one place, or none.
std::optional<size_t> find_digits(std::string_view file, std::string_view key, size_t digits) {
  if (file.size() < 8) return std::nullopt;
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof(length));
  const std::string_view header = file.substr(8, std::min<uint64_t>(length, kMaxHeader));
  const std::string wanted = fmt::format("\"{}\": \"", key);
  const size_t at = header.find(wanted);
  if (at == std::string_view::npos || header.find(wanted, at + 1) != std::string_view::npos) {
    return std::nullopt;
  }
  const size_t begin = 8 + at + wanted.size();
  if (begin + digits > 8 + header.size()) return std::nullopt;
  return begin;
}

// The checksum of the file with zeros in the place of the digits at `at`.
std::string checksum(std::string_view file, size_t at) {
  const auto bytes = std::as_bytes(std::span(file));
  Crc32 crc;
  crc.add(bytes.first(at));
  crc.add(std::as_bytes(std::span("00000000", kCrcDigits)));
  crc.add(bytes.subspan(at + kCrcDigits));
  return fmt::format("{:08x}", crc.value());
}

class Reader {
 public:
  Reader(std::span<const std::byte> file, std::string_view name)
      : file_(reinterpret_cast<const char*>(file.data()), file.size()), name_(name) {}

  Result<StageDump> read() {
    LOCKSTEP_RETURN_IF_ERROR(check_seal());
    LOCKSTEP_ASSIGN_OR_RETURN(header_, parse_safetensors(bytes(), name_));
    LOCKSTEP_RETURN_IF_ERROR(read_identity());
    LOCKSTEP_RETURN_IF_ERROR(read_numbers("ids", dump_.ids));
    LOCKSTEP_RETURN_IF_ERROR(read_numbers("positions", dump_.positions));
    LOCKSTEP_RETURN_IF_ERROR(check_ids());
    LOCKSTEP_RETURN_IF_ERROR(check_positions());
    for (const SafetensorsEntry& entry : header_.entries) {
      if (entry.name == "ids" || entry.name == "positions") continue;
      LOCKSTEP_RETURN_IF_ERROR(read_stage(entry));
    }
    if (dump_.stages.empty()) return fail("it holds no stage");
    return std::move(dump_);
  }

 private:
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(file_)); }

  template <typename... Args>
  Error fail(fmt::format_string<Args...> text, Args&&... args) const {
    return {ErrorCode::kBadFile,
            fmt::format("{}: {}", name_, fmt::format(text, std::forward<Args>(args)...))};
  }

  Status check_seal() const {
    const auto size_at = find_digits(file_, "bytes", kSizeDigits);
    const auto crc_at = find_digits(file_, "crc32", kCrcDigits);
    if (!size_at || !crc_at) {
      return fail(
          "not a dump of stages: its header has no size and checksum (lockstep verify "
          "stages --dump and python/stage_dump.py write such files)");
    }
    const std::string_view size = file_.substr(*size_at, kSizeDigits);
    const std::string whole = fmt::format("{:016}", file_.size());
    if (size > whole) {
      return fail("truncated: {} bytes of {}", file_.size(), printable(size));
    }
    if (size != whole) return fail("{} bytes, its header says {}", file_.size(), printable(size));
    const std::string want = checksum(file_, *crc_at);
    const std::string_view found = file_.substr(*crc_at, kCrcDigits);
    if (found != want) {
      return fail("wrong checksum: the header says {}, the bytes give {}", printable(found), want);
    }
    return {};
  }

  static std::string printable(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= ' ' && c <= '~' ? c : '?';
    return out;
  }

  Status read_identity() {
    if (header_.metadata["format"] != "lockstep-stages-1") {
      return fail("its format is \"{}\", this reads lockstep-stages-1",
                  printable(header_.metadata["format"]));
    }
    const auto text = [&](const char* key) { return printable(header_.metadata[key]); };
    const std::string vocab = text("vocab");
    int64_t size = 0;
    const auto [end, error] = std::from_chars(vocab.data(), vocab.data() + vocab.size(), size);
    if (error != std::errc() || end != vocab.data() + vocab.size() || size < 1) {
      return fail("vocab is \"{}\", not a count", vocab);
    }
    dump_.identity = {text("producer"), text("source"), text("precision"), text("weights"), size};
    return {};
  }

  Status read_numbers(const char* tensor, std::vector<int32_t>& out) const {
    const auto entry = std::find_if(header_.entries.begin(), header_.entries.end(),
                                    [&](const auto& each) { return each.name == tensor; });
    if (entry == header_.entries.end()) return fail("it has no {}", tensor);
    if (entry->dtype != DType::kI32 || entry->shape.size() != 1 || entry->shape[0] < 1) {
      return fail("{} must be I32 of one dimension and not empty", tensor);
    }
    out.resize(entry->bytes / sizeof(int32_t));
    std::memcpy(out.data(), file_.data() + entry->begin, entry->bytes);
    return {};
  }

  Status check_ids() const {
    for (size_t i = 0; i < dump_.ids.size(); ++i) {
      const int32_t id = dump_.ids[i];
      if (id < 0 || id >= dump_.identity.vocab) {
        return fail("id {} at position {} is out of range: the vocabulary has {}", id, i,
                    dump_.identity.vocab);
      }
    }
    return {};
  }

  Status check_positions() const {
    int64_t before = -1;
    for (const int32_t position : dump_.positions) {
      if (position <= before) {
        return fail("positions are not ascending: {} after {}", position, before);
      }
      if (position >= std::ssize(dump_.ids)) {
        return fail("position {} is out of range: the sequence has {} ids", position,
                    dump_.ids.size());
      }
      before = position;
    }
    return {};
  }

  Status read_stage(const SafetensorsEntry& entry) {
    const int64_t rows = dump_.rows_of(entry.name);
    if (entry.dtype != DType::kF32 || entry.shape.size() != 2 || entry.shape[0] != rows ||
        entry.shape[1] < 1) {
      return fail("stage {} must be F32 [{}, width]", entry.name, rows);
    }
    StageRows stage = {entry.name, entry.shape[1], std::vector<float>(entry.bytes / 4)};
    if (!stage.data.empty()) {
      std::memcpy(stage.data.data(), file_.data() + entry.begin, entry.bytes);
    }
    dump_.stages.push_back(std::move(stage));
    return {};
  }

  std::string_view file_;
  std::string_view name_;
  SafetensorsHeader header_;
  StageDump dump_;
};

}  // namespace

bool seal_dump(std::string& file) {
  const auto size_at = find_digits(file, "bytes", kSizeDigits);
  const auto crc_at = find_digits(file, "crc32", kCrcDigits);
  if (!size_at || !crc_at) return false;
  file.replace(*size_at, kSizeDigits, fmt::format("{:016}", file.size()));
  file.replace(*crc_at, kCrcDigits, checksum(file, *crc_at));
  return true;
}

Result<StageDump> parse_dump(std::span<const std::byte> file, std::string_view name) {
  return Reader(file, name).read();
}

}  // namespace lockstep::verify
