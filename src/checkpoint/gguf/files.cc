#include "checkpoint/gguf/files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>

#include "checkpoint/gguf/container.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxParts = 1000;
constexpr std::string_view kEnding = ".gguf";

std::string part_suffix(int64_t number, int64_t count) {
  return fmt::format("-{:05}-of-{:05}{}", number, count, kEnding);
}

// Length of "-00001-of-00003.gguf".
constexpr size_t kPartSuffix = 20;

bool is_part(const std::string& name) {
  if (name.size() < kPartSuffix) return false;
  std::string digits_as_zero = name.substr(name.size() - kPartSuffix);
  for (char& c : digits_as_zero) {
    if (c >= '0' && c <= '9') c = '0';
  }
  return digits_as_zero == part_suffix(0, 0);
}

bool is_first_part(const std::string& name) {
  return name.substr(name.size() - kPartSuffix).starts_with("-00001-");
}

bool starts_as_gguf(const fs::path& path) {
  std::array<char, 4> start = {};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file && looks_like_gguf(std::as_bytes(std::span(start)));
}

bool is_companion(const std::string& name) {
  return name.find("mmproj") != std::string::npos || name.starts_with("mtp-");
}

TensorRecord make_record(const GgufTensor& tensor, const MappedFile& file) {
  TensorRecord record{.name = std::string(tensor.name),
                      .source_name = std::string(tensor.name),
                      .file = file.path(),
                      .dtype = tensor.type.dtype,
                      .shape = {},
                      .data = file.bytes().data() + tensor.begin,
                      .bytes = tensor.bytes,
                      .blocks = tensor.type.blocks};
  for (int d = tensor.dims; d > 0; --d) {
    record.shape.push_back(tensor.ne[static_cast<size_t>(d - 1)]);
  }
  return record;
}

struct Part {
  int64_t number = 0;  // of its set, from 0
  int64_t count = 1;
};

Result<Part> part_of(const GgufMetadata& metadata) {
  Part part;
  LOCKSTEP_ASSIGN_OR_RETURN(part.count, metadata.integer("split.count", {0, kMaxParts}, 1));
  part.count = std::max(part.count, int64_t{1});
  LOCKSTEP_ASSIGN_OR_RETURN(part.number, metadata.integer("split.no", {0, part.count - 1}, 0));
  return part;
}

class SetReader {
 public:
  Result<GgufFiles> read(const fs::path& path);

 private:
  Result<Part> add_file(const fs::path& path);
  Status add_others(const fs::path& first, int64_t count);

  GgufFiles out_;
};

// Keeps the metadata of the first file.
Result<Part> SetReader::add_file(const fs::path& path) {
  LOCKSTEP_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  LOCKSTEP_ASSIGN_OR_RETURN(GgufContainer container, parse_gguf(file.bytes(), file.path()));
  LOCKSTEP_ASSIGN_OR_RETURN(const Part part, part_of(container.metadata));
  for (const GgufTensor& tensor : container.tensors) {
    out_.tensors.push_back(make_record(tensor, file));
  }
  if (out_.files.empty()) out_.metadata = std::move(container.metadata);
  out_.files.push_back(std::move(file));
  return part;
}

Status SetReader::add_others(const fs::path& first, int64_t count) {
  const std::string name = first.filename().string();
  const auto refuse = [&](const std::string& fault) {
    return Error{ErrorCode::kBadFile, fmt::format("{}: {}", first.string(), fault)};
  };
  if (!is_part(name) || !name.ends_with(part_suffix(1, count))) {
    return refuse(fmt::format("this is one of {} files, which must be called NAME{} and so on",
                              count, part_suffix(1, count)));
  }
  const std::string stem = name.substr(0, name.size() - kPartSuffix);
  std::vector<std::string> missing;
  for (int64_t i = 2; i <= count; ++i) {
    const std::string other = stem + part_suffix(i, count);
    if (!file_exists(first.parent_path() / other)) missing.push_back(other);
  }
  if (!missing.empty()) {
    if (missing.size() > 5) missing.resize(5);
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: of its {} files these are missing: {}", first.string(), count,
                             fmt::join(missing, ", "))};
  }
  for (int64_t i = 2; i <= count; ++i) {
    const fs::path other = first.parent_path() / (stem + part_suffix(i, count));
    LOCKSTEP_ASSIGN_OR_RETURN(const Part part, add_file(other));
    if (part.number != i - 1 || part.count != count) {
      return refuse(fmt::format("{} says that it is file {} of {}", other.string(), part.number + 1,
                                part.count));
    }
  }
  LOCKSTEP_ASSIGN_OR_RETURN(
      const int64_t all,
      out_.metadata.integer("split.tensors.count", {0, static_cast<int64_t>(kMaxGgufTensors)},
                            static_cast<int64_t>(out_.tensors.size())));
  if (all == static_cast<int64_t>(out_.tensors.size())) return {};
  return refuse(fmt::format("found {} tensors in its {} files, expected {}", out_.tensors.size(),
                            count, all));
}

Result<GgufFiles> SetReader::read(const fs::path& path) {
  LOCKSTEP_ASSIGN_OR_RETURN(const Part part, add_file(path));
  if (part.number != 0) {
    return Error{
        ErrorCode::kInvalidArgument,
        fmt::format("{}: this is file {} of {}; name the first, which ends in {}", path.string(),
                    part.number + 1, part.count, part_suffix(1, part.count))};
  }
  if (part.count > 1) LOCKSTEP_RETURN_IF_ERROR(add_others(path, part.count));
  return std::move(out_);
}

}  // namespace

Result<std::optional<fs::path>> find_gguf(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (fs::is_regular_file(status)) {
    const bool is_gguf = path.extension() == kEnding || starts_as_gguf(path);
    return is_gguf ? std::optional<fs::path>(path) : std::nullopt;
  }
  if (!fs::is_directory(status)) return std::optional<fs::path>();
  for (const char* other : {"config.json", "model.safetensors", "model.safetensors.index.json"}) {
    if (file_exists(path / other)) return std::optional<fs::path>();
  }
  std::vector<std::string> names;
  for (fs::directory_iterator item(path, code), end; !code && item != end; item.increment(code)) {
    const std::string name = item->path().filename().string();
    if (!name.ends_with(kEnding) || is_companion(name)) continue;
    if (!is_part(name) || is_first_part(name)) names.push_back(name);
  }
  if (names.empty()) return std::optional<fs::path>();
  if (names.size() == 1) return std::optional<fs::path>(path / names.front());
  std::sort(names.begin(), names.end());
  if (names.size() > 8) names.resize(8);
  return Error{ErrorCode::kInvalidArgument, fmt::format("{}: found several models; name one of {}",
                                                        path.string(), fmt::join(names, ", "))};
}

Result<GgufFiles> open_gguf(const fs::path& path) { return SetReader().read(path); }

}  // namespace lockstep
