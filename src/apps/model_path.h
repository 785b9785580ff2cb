// From what a user calls a model to its folder.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lockstep {

struct EmbeddedModel {
  std::string_view name;
  std::string_view folder;  // below the models folder
  std::string_view description;
};

std::span<const EmbeddedModel> embedded_models();

// Where an installation or the source tree keeps it; nothing if neither does.
std::optional<std::filesystem::path> embedded_model_folder(const EmbeddedModel& model);

// A folder or a GGUF file as it is, an embedded model by its name. Anything else is an error that
// says what works.
Result<std::filesystem::path> find_model(const std::string& model);

// Tells the user; the exit code of a command that needs the model.
int fail_to_find(const Error& error);

}  // namespace lockstep
