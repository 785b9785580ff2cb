#include "checkpoint/quantization_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checkpoint/foreign_format.h"
#include "checkpoint/json_fields.h"

namespace lockstep {
namespace {

Result<QuantizationScheme> read_scheme(const JsonFields& fields) {
  QuantizationScheme scheme;
  LOCKSTEP_ASSIGN_OR_RETURN(scheme.mode, fields.text("mode", "affine"));
  LOCKSTEP_ASSIGN_OR_RETURN(scheme.bits, fields.integer("bits", {1, 32}, 0));
  LOCKSTEP_ASSIGN_OR_RETURN(scheme.group, fields.integer("group_size", {1, 4096}, 0));
  return scheme;
}

// `quantization_config` is also where other makers describe their formats.
Status refuse_foreign(const JsonFields& fields) {
  for (const char* key : {"quant_method", "quant_algo"}) {
    if (!fields.has(key)) continue;
    LOCKSTEP_ASSIGN_OR_RETURN(const std::string method, fields.text(key));
    return fields.unsupported(key, fmt::format("no such key; {}", kReadableFormats));
  }
  return {};
}

Result<std::optional<JsonFields>> find_object(const JsonFields& top) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto text, top.object("text_config"));
  for (const char* key : {"quantization", "quantization_config", "compression_config"}) {
    for (const JsonFields* level : {&top, text ? &*text : nullptr}) {
      if (level == nullptr) continue;
      LOCKSTEP_ASSIGN_OR_RETURN(auto found, level->object(key));
      if (found) return found;
    }
  }
  return std::optional<JsonFields>();
}

std::string canonical_module(std::string_view path, NameScope scope) {
  constexpr std::string_view kSuffix = ".weight";
  std::string name = canonical_name(fmt::format("{}{}", path, kSuffix), scope);
  name.resize(name.size() - kSuffix.size());
  return name;
}

}  // namespace

Result<QuantizationConfig> read_quantization_object(const JsonFields& fields, NameScope scope) {
  QuantizationConfig config;
  LOCKSTEP_RETURN_IF_ERROR(refuse_foreign(fields));
  LOCKSTEP_ASSIGN_OR_RETURN(const QuantizationScheme global, read_scheme(fields));
  if (global.mode != "affine") {
    return fields.unsupported("mode", fmt::format("\"affine\"; {}", kReadableFormats));
  }
  if (global.bits != 0 || global.group != 0) config.global = global;
  for (const auto& item : fields.items()) {
    const std::string_view key = item.key();
    if (!item.value().is_object() && !item.value().is_bool()) continue;
    std::optional<QuantizationScheme> scheme;
    if (item.value().is_object()) {
      LOCKSTEP_ASSIGN_OR_RETURN(const auto nested, fields.object(key));
      LOCKSTEP_ASSIGN_OR_RETURN(scheme, read_scheme(*nested));
    } else if (item.value().get_bool()) {
      scheme = global;
    }
    config.overrides[canonical_module(key, scope)] = std::move(scheme);
  }
  return config;
}

Result<QuantizationConfig> read_quantization_config(const json::value& root, std::string_view file,
                                                    NameScope scope) {
  if (!root.is_object()) return QuantizationConfig();
  LOCKSTEP_ASSIGN_OR_RETURN(const auto fields,
                            find_object(JsonFields(root.get_object(), file, "")));
  if (!fields) return QuantizationConfig();
  return read_quantization_object(*fields, scope);
}

}  // namespace lockstep
