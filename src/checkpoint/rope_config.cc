#include "checkpoint/rope_config.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace lockstep {
namespace {

constexpr NumberRange kThetaRange{1.0, 1e12, true};
constexpr NumberRange kFactorRange{0.0, 1.0, true};
// What the releases use, and what their model class falls back to.
constexpr double kDefaultPartialRotaryFactor = 0.25;
constexpr int64_t kMaxPositions = int64_t{1} << 27;

// `rope_parameters`, the older `rope_scaling`, or nothing.
Result<std::optional<JsonFields>> rope_object(const JsonFields& text) {
  LOCKSTEP_ASSIGN_OR_RETURN(auto parameters, text.object("rope_parameters"));
  if (parameters) return parameters;
  return text.object("rope_scaling");
}

// A number that may stand in the rope object or, in older files, beside it; the object wins.
Result<std::optional<double>> find_number(const std::optional<JsonFields>& rope,
                                          const JsonFields& text, std::string_view key,
                                          NumberRange range, std::vector<std::string>& warnings) {
  LOCKSTEP_ASSIGN_OR_RETURN(const auto beside, text.optional_number(key, range));
  if (!rope) return beside;
  LOCKSTEP_ASSIGN_OR_RETURN(const auto inside, rope->optional_number(key, range));
  if (!inside) return beside;
  if (beside && *beside != *inside) {
    warnings.push_back(fmt::format("{}: {} is {} but {} is {}; the first is used", text.file(),
                                   rope->name_of(key), *inside, text.name_of(key), *beside));
  }
  return inside;
}

Result<YarnConfig> read_yarn(const JsonFields& rope) {
  YarnConfig yarn;
  LOCKSTEP_ASSIGN_OR_RETURN(yarn.factor, rope.number("factor", {1.0, 1024.0}));
  LOCKSTEP_ASSIGN_OR_RETURN(yarn.original_max_positions,
                            rope.integer("original_max_position_embeddings", {1, kMaxPositions}));
  LOCKSTEP_ASSIGN_OR_RETURN(yarn.beta_fast, rope.number("beta_fast", {0.0, 1e6, true}, 32.0));
  LOCKSTEP_ASSIGN_OR_RETURN(yarn.beta_slow, rope.number("beta_slow", {0.0, 1e6, true}, 1.0));
  if (yarn.beta_fast <= yarn.beta_slow) {
    return rope.wrong("beta_fast", fmt::format("more than beta_slow, {}", yarn.beta_slow));
  }
  for (const char* key : {"attention_factor", "mscale", "mscale_all_dim"}) {
    if (rope.has(key)) return rope.unsupported(key, "nothing: yarn's own 0.1 ln(factor) + 1");
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const bool truncate, rope.boolean("truncate", true));
  if (!truncate) return rope.unsupported("truncate", "true");
  return yarn;
}

// The kind of scaling: none, or yarn.
Result<std::optional<YarnConfig>> read_scaling(const JsonFields& rope) {
  const char* key = rope.has("rope_type") ? "rope_type" : "type";
  LOCKSTEP_ASSIGN_OR_RETURN(const std::string type, rope.text(key, "default"));
  if (type == "default" || type == "mrope") return std::optional<YarnConfig>();
  if (type != "yarn") return rope.unsupported(key, R"("default", "mrope" or "yarn")");
  LOCKSTEP_ASSIGN_OR_RETURN(const YarnConfig yarn, read_yarn(rope));
  return std::optional<YarnConfig>(yarn);
}

Status read_sections(const JsonFields& rope, RopeConfig& out) {
  LOCKSTEP_ASSIGN_OR_RETURN(const bool interleaved, rope.boolean("mrope_interleaved", true));
  if (!interleaved) return rope.unsupported("mrope_interleaved", "true");
  LOCKSTEP_ASSIGN_OR_RETURN(const auto section, rope.integers("mrope_section", {0, 4096}));
  if (!rope.has("mrope_section")) return {};
  if (section.size() != out.mrope_section.size()) {
    return rope.wrong("mrope_section", "a list of 3 whole numbers");
  }
  std::copy(section.begin(), section.end(), out.mrope_section.begin());
  return {};
}

}  // namespace

Result<RopeFields> read_rope_config(const JsonFields& text, int64_t head_dim,
                                    std::vector<std::string>& warnings) {
  RopeFields out;
  LOCKSTEP_ASSIGN_OR_RETURN(const auto rope, rope_object(text));
  if (rope) {
    LOCKSTEP_ASSIGN_OR_RETURN(out.rope.yarn, read_scaling(*rope));
    LOCKSTEP_RETURN_IF_ERROR(read_sections(*rope, out.rope));
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const auto theta,
                            find_number(rope, text, "rope_theta", kThetaRange, warnings));
  const JsonFields& home = rope ? *rope : text;
  if (!theta) return home.wrong("rope_theta", "a number above 1, in this object or beside it");
  out.rope.theta = *theta;

  LOCKSTEP_ASSIGN_OR_RETURN(
      auto factor, find_number(rope, text, "partial_rotary_factor", kFactorRange, warnings));
  if (!factor) {
    factor = kDefaultPartialRotaryFactor;
    warnings.push_back(fmt::format("{}: {} is missing; the family's {} is used", text.file(),
                                   home.name_of("partial_rotary_factor"), *factor));
  }
  out.rotary_dim = std::llround(static_cast<double>(head_dim) * *factor);
  if (out.rotary_dim < 2 || out.rotary_dim % 2 != 0) {
    return home.wrong(
        "partial_rotary_factor",
        fmt::format("a share of head_dim {} that is an even number of at least 2", head_dim));
  }
  const auto& section = out.rope.mrope_section;
  const int64_t frequencies = std::accumulate(section.begin(), section.end(), int64_t{0});
  if (frequencies * 2 != out.rotary_dim) {
    return home.wrong(
        "mrope_section",
        fmt::format("three numbers with the sum {} (half of the {} rotary dimensions); {} + {} + "
                    "{} is {}",
                    out.rotary_dim / 2, out.rotary_dim, section[0], section[1], section[2],
                    frequencies));
  }
  return out;
}

}  // namespace lockstep
