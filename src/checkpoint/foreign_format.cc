#include "checkpoint/foreign_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxListedFiles = 5;

std::vector<std::string> files_ending(const fs::path& folder, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator item(folder, code), end; !code && item != end; item.increment(code)) {
    const std::string name = item->path().filename().string();
    if (name.ends_with(ending)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  if (names.size() > kMaxListedFiles) names.resize(kMaxListedFiles);
  return names;
}

const TensorRecord* find(const TensorSource& tensors, std::string_view module,
                         std::string_view suffix) {
  return tensors.find(fmt::format("{}{}", module, suffix));
}

}  // namespace

Error no_weights_error(const fs::path& folder) {
  constexpr struct {
    std::string_view ending;
    std::string_view what;
  } kForeign[] = {
      {".gguf", "GGUF files, which are read when they are named, or alone in a folder"},
      {".bin", "PyTorch files, which are never read because they can run code"},
      {".pth", "PyTorch files, which are never read because they can run code"},
      {".npz", "NumPy archives, which are not read"},
  };
  const std::string start =
      fmt::format("{}: no model.safetensors and no model.safetensors.index.json", folder.string());
  const auto others = files_ending(folder, ".safetensors");
  if (!others.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("{}; found {}, which no index names", start, fmt::join(others, ", "))};
  }
  for (const auto& foreign : kForeign) {
    const auto names = files_ending(folder, foreign.ending);
    if (names.empty()) continue;
    return Error{ErrorCode::kUnsupported, fmt::format("{}; found {} ({}): {}", start, foreign.what,
                                                      fmt::join(names, ", "), kReadableFormats)};
  }
  return Error{ErrorCode::kNotFound, start};
}

Error not_a_folder_error(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".safetensors" || extension == ".json") {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("{}: name the model's folder, which also holds config.json and the "
                             "tokenizer, not a file in it",
                             path.string())};
  }
  return Error{ErrorCode::kInvalidArgument,
               fmt::format("{}: found a file, expected a model folder (config.json and "
                           "safetensors)",
                           path.string())};
}

std::optional<ForeignEncoding> foreign_encoding(const TensorSource& tensors,
                                                std::string_view module) {
  constexpr struct {
    std::string_view suffix;
    std::string_view encoding;
  } kSigns[] = {
      {".weight_scale_inv", "FP8 with block scales"},
      {".weight_packed", "compressed-tensors packed weights"},
      {".qweight", "GPTQ or AWQ"},
      {".weight_scale_2", "NVFP4 (ModelOpt)"},
      {".weight_scale", "FP8 with one scale (ModelOpt)"},
      {".weight.absmax", "bitsandbytes"},
  };
  for (const auto& sign : kSigns) {
    if (const auto* record = find(tensors, module, sign.suffix)) {
      return ForeignEncoding{sign.encoding, record};
    }
  }
  const TensorRecord* weight = find(tensors, module, ".weight");
  if (weight == nullptr) return std::nullopt;
  if (weight->dtype == DType::kF8E4M3) return ForeignEncoding{"FP8", weight};
  const TensorRecord* scales = find(tensors, module, ".scales");
  if (scales != nullptr && (scales->dtype == DType::kU8 || scales->dtype == DType::kF8E8M0 ||
                            find(tensors, module, ".biases") == nullptr)) {
    return ForeignEncoding{"an MLX mode without biases (mxfp4, mxfp8 or nvfp4)", weight};
  }
  return std::nullopt;
}

}  // namespace lockstep
