// model.safetensors.index.json: which tensor lies in which shard.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace lockstep {

struct SafetensorsIndex {
  std::map<std::string, std::string> shard_of;  // by tensor name, as the files spell it
};

// Shard names must be plain file names ("model-00001-of-00004.safetensors"): a path that leads
// elsewhere is refused.
Result<SafetensorsIndex> read_safetensors_index(const json::value& root, std::string_view file);

// A file name with no directory in it, fit to be joined to a folder.
bool is_plain_file_name(std::string_view name);

}  // namespace lockstep
