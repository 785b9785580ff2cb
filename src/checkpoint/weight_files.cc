#include "checkpoint/weight_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "checkpoint/foreign_format.h"
#include "checkpoint/json_file.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_index.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxIndexBytes = 256u << 20;

Status append_file(const fs::path& path, WeightFiles& out) {
  LOCKSTEP_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  LOCKSTEP_ASSIGN_OR_RETURN(const auto header, parse_safetensors(file.bytes(), file.path()));
  for (const SafetensorsEntry& entry : header.entries) {
    out.tensors.push_back({.name = entry.name,
                           .source_name = entry.name,
                           .file = file.path(),
                           .dtype = entry.dtype,
                           .shape = entry.shape,
                           .data = file.bytes().data() + entry.begin,
                           .bytes = entry.bytes});
  }
  out.metadata.insert(header.metadata.begin(), header.metadata.end());
  out.files.push_back(std::move(file));
  return {};
}

// Each tensor must be where the index says, and each one in the index must have been found. A
// tensor that a stale index lacks is still one of the model's.
Status check_index(const SafetensorsIndex& index, const fs::path& index_path,
                   const WeightFiles& found) {
  std::map<std::string, const TensorRecord*> by_name;
  for (const TensorRecord& record : found.tensors) {
    const auto [twin, fresh] = by_name.emplace(record.source_name, &record);
    if (!fresh) {
      return Error{ErrorCode::kBadFile,
                   fmt::format("tensor {} is stored twice: in {} and in {}", record.source_name,
                               twin->second->file, record.file)};
    }
    const auto entry = index.shard_of.find(record.source_name);
    if (entry == index.shard_of.end()) continue;
    if (entry->second != fs::path(record.file).filename()) {
      return Error{ErrorCode::kBadFile,
                   fmt::format("{}: tensor {} lies in {}, not in {}", index_path.string(),
                               record.source_name, record.file, entry->second)};
    }
  }
  for (const auto& [name, shard] : index.shard_of) {
    if (!by_name.contains(name)) {
      return Error{ErrorCode::kBadFile, fmt::format("{}: tensor {} is not in its shard {}",
                                                    index_path.string(), name, shard)};
    }
  }
  return {};
}

// Of the files that an index may name.
size_t weight_bytes(const fs::path& folder) {
  size_t sum = 0;
  std::error_code code;
  for (fs::directory_iterator item(folder, code), end; !code && item != end; item.increment(code)) {
    std::error_code unknown;
    const bool weights =
        item->path().extension() == ".safetensors" && item->is_regular_file(unknown);
    const uintmax_t bytes = weights ? item->file_size(unknown) : 0;
    if (!unknown) sum += bytes;
  }
  return sum;
}

Result<WeightFiles> open_shards(const fs::path& folder, const fs::path& index_path) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto root,
                            read_json_file(index_path, kMaxIndexBytes, weight_bytes(folder)));
  LOCKSTEP_ASSIGN_OR_RETURN(const auto index, read_safetensors_index(root, index_path.string()));
  std::set<std::string> shards;
  for (const auto& [name, shard] : index.shard_of) shards.insert(shard);
  std::vector<std::string> missing;
  for (const std::string& shard : shards) {
    if (!file_exists(folder / shard)) missing.push_back(shard);
  }
  if (!missing.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}: {} of {} shards are missing: {}", index_path.string(),
                             missing.size(), shards.size(), fmt::join(missing, ", "))};
  }
  WeightFiles out;
  for (const std::string& shard : shards) {
    LOCKSTEP_RETURN_IF_ERROR(append_file(folder / shard, out));
  }
  LOCKSTEP_RETURN_IF_ERROR(check_index(index, index_path, out));
  return out;
}

}  // namespace

Result<WeightFiles> open_weight_file(const fs::path& path) {
  WeightFiles out;
  LOCKSTEP_RETURN_IF_ERROR(append_file(path, out));
  return out;
}

Result<WeightFiles> open_weight_folder(const fs::path& folder) {
  const fs::path index_path = folder / "model.safetensors.index.json";
  if (file_exists(index_path)) return open_shards(folder, index_path);
  const fs::path single = folder / "model.safetensors";
  if (file_exists(single)) return open_weight_file(single);
  return no_weights_error(folder);
}

}  // namespace lockstep
