#include "checkpoint/safetensors_index.h"

#include <fmt/format.h>

#include "base/json.h"
#include "checkpoint/json_fields.h"
#include "checkpoint/safetensors.h"

namespace lockstep {

bool is_plain_file_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name == "." || name == "..") return false;
  return name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

Result<SafetensorsIndex> read_safetensors_index(const json::value& root, std::string_view file) {
  const json::value* map = root.is_object() ? root.get_object().if_contains("weight_map") : nullptr;
  if (map == nullptr || !map->is_object() || map->get_object().empty()) {
    return Error{ErrorCode::kBadFile,
                 fmt::format("{}: weight_map: found {}, expected an object of tensor and shard "
                             "names",
                             file, describe_found(map))};
  }
  SafetensorsIndex index;
  for (const auto& item : map->get_object()) {
    const json::value& shard = item.value();
    const std::string name = shard.is_string()
                                 ? std::string(shard.get_string().data(), shard.get_string().size())
                                 : std::string();
    if (!is_plain_tensor_name(item.key())) {
      return Error{ErrorCode::kBadFile,
                   fmt::format("{}: weight_map: found a tensor with the name {}, expected at most "
                               "512 printable ASCII characters",
                               file, quote_json(std::string_view(item.key()).substr(0, 64)))};
    }
    if (!is_plain_file_name(name) || !name.ends_with(".safetensors")) {
      return Error{ErrorCode::kBadFile,
                   fmt::format("{}: weight_map.{}: found {}, expected the name of a .safetensors "
                               "file in the same folder",
                               file, std::string_view(item.key()), describe_found(&shard))};
    }
    index.shard_of.emplace(std::string(item.key()), name);
  }
  return index;
}

}  // namespace lockstep
