#include "checkpoint/quantization_check.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "checkpoint/foreign_format.h"
#include "checkpoint/tensor_names.h"

namespace lockstep {
namespace {

// What overrides may call `module`: its own name, or for experts the name before conversion.
std::vector<std::string> names_in_config(std::string_view module) {
  std::vector<std::string> names{std::string(module)};
  constexpr std::string_view kSwitch = ".switch_mlp.";
  const size_t at = module.find(kSwitch);
  if (at == std::string_view::npos) return names;
  const std::string mlp(module.substr(0, at));
  const bool down = module.ends_with("down_proj");
  names.push_back(mlp + (down ? ".experts.down_proj" : ".experts.gate_up_proj"));
  names.push_back(mlp + ".switch_mlp");
  names.push_back(mlp + ".experts");
  return names;
}

// nullptr: the config has no entry for the module.
const std::optional<QuantizationScheme>* find_override(const QuantizationConfig& config,
                                                       std::string_view module) {
  for (const std::string& name : names_in_config(module)) {
    const auto found = config.overrides.find(name);
    if (found != config.overrides.end()) return &found->second;
  }
  return nullptr;
}

const QuantizationConfig& config_of(const Checkpoint& checkpoint, std::string_view module) {
  return role_of(std::string(module) + ".weight") == TensorRole::kDraft
             ? checkpoint.mtp_quantization
             : checkpoint.quantization;
}

Error contradiction(const TensorRecord& weight, const std::string& found, const std::string& said) {
  return Error{
      ErrorCode::kBadFile,
      fmt::format("{}: tensor {} is {} by its shape, but the config's quantization says {}",
                  weight.file, weight.source_name, found, said)};
}

}  // namespace

Status check_affine(const Checkpoint& checkpoint, std::string_view module,
                    const TensorRecord& weight, int64_t bits, int64_t group) {
  const QuantizationConfig& config = config_of(checkpoint, module);
  const auto* entry = find_override(config, module);
  const std::string found = fmt::format("{}-bit in groups of {}", bits, group);
  if (entry != nullptr && !*entry) return contradiction(weight, found, "not quantised");
  const std::optional<QuantizationScheme>& said = entry != nullptr ? *entry : config.global;
  if (!said) return {};
  if (said->mode != "affine") {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("{}: tensor {}: the config's quantization says mode {}, which is not "
                             "read yet; {}",
                             weight.file, weight.source_name, said->mode, kReadableFormats)};
  }
  const bool bits_agree = said->bits == 0 || said->bits == bits;
  const bool group_agrees = said->group == 0 || said->group == group;
  if (bits_agree && group_agrees) return {};
  return contradiction(weight, found,
                       fmt::format("{} bits in groups of {}", said->bits, said->group));
}

Status check_dense(const Checkpoint& checkpoint, std::string_view module,
                   const TensorRecord& weight) {
  const auto* entry = find_override(config_of(checkpoint, module), module);
  if (entry == nullptr || !*entry) return {};
  return contradiction(weight, fmt::format("not quantised ({})", to_string(weight.dtype)),
                       fmt::format("{} bits in groups of {}", (*entry)->bits, (*entry)->group));
}

}  // namespace lockstep
