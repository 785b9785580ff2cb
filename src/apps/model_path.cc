#include "apps/model_path.h"

#include <fmt/format.h>

#include <array>
#include <system_error>

#include "apps/console.h"
#include "checkpoint/gguf/files.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::array<EmbeddedModel, 2> kEmbedded = {{
    {"tiny", "tiny-dense-mlx-4bit", "dense, 8 layers, MLX 4-bit, with a draft head beside it"},
    {"tiny-moe", "tiny-moe-mlx-4bit", "mixture of 16 experts, 8 layers, MLX 4-bit"},
}};

constexpr const char* kWhatWorks =
    "a MODEL is a folder with config.json and .safetensors files, a .gguf file, or tiny or "
    "tiny-moe";

Error not_found(std::string message) { return {ErrorCode::kNotFound, std::move(message)}; }

}  // namespace

std::span<const EmbeddedModel> embedded_models() { return kEmbedded; }

std::optional<fs::path> embedded_model_folder(const EmbeddedModel& model) {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed = program.parent_path().parent_path() / "share/lockstep/models";
  for (const fs::path& models : {installed, fs::path(LOCKSTEP_SOURCE_MODELS)}) {
    if (fs::is_directory(models / model.folder, ignored)) return models / model.folder;
  }
  return std::nullopt;
}

Result<fs::path> find_model(const std::string& model) {
  std::error_code code;
  const fs::file_status status = fs::status(model, code);
  if (fs::is_directory(status)) {
    const fs::path folder(model);  // "models/m/", as a shell completes it, has no last name
    return folder.has_filename() ? folder : folder.parent_path();
  }
  for (const EmbeddedModel& embedded : kEmbedded) {
    if (model != embedded.name) continue;
    if (const auto folder = embedded_model_folder(embedded)) return *folder;
    return not_found(
        fmt::format("the embedded model {} is not installed: no folder {} beside this "
                    "program or in {}",
                    model, embedded.folder, LOCKSTEP_SOURCE_MODELS));
  }
  if (fs::is_regular_file(status)) {
    LOCKSTEP_ASSIGN_OR_RETURN(const auto gguf, find_gguf(model));
    if (gguf) return *gguf;
  }
  if (status.type() == fs::file_type::not_found) {
    return not_found(fmt::format("no model \"{}\": {}", model, kWhatWorks));
  }
  if (code) return not_found(fmt::format("{}: {}", model, code.message()));
  return Error{ErrorCode::kUnsupported, fmt::format("{} is a file; {}", model, kWhatWorks)};
}

int fail_to_find(const Error& error) {
  return fail(error.code == ErrorCode::kNotFound ? kMissing : kFailed, error.message);
}

}  // namespace lockstep
