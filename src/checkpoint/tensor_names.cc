#include "checkpoint/tensor_names.h"

namespace lockstep {
namespace {

// Longest first: the first that fits is taken off.
constexpr std::string_view kWrappers[] = {"model.language_model.", "language_model.model.",
                                          "language_model.", "model."};
// What follows a wrapper, and its canonical form.
constexpr struct {
  std::string_view stored;
  std::string_view canonical;
} kParts[] = {
    {"embed_tokens.", "model.embed_tokens."},
    {"layers.", "model.layers."},
    {"norm.", "model.norm."},
    {"lm_head.", "lm_head."},
    {"mtp.", "mtp."},
    {"visual.", "visual."},
    {"vision_tower.", "visual."},
    {"vision_model.", "visual."},
};
constexpr std::string_view kBareDraftParts[] = {"fc.", "layers.", "norm.", "pre_fc_norm_embedding.",
                                                "pre_fc_norm_hidden."};
constexpr std::string_view kReplacedPrefix = "replaced:";

}  // namespace

std::string canonical_name(std::string_view source, NameScope scope) {
  if (scope == NameScope::kDraftHead) {
    for (const std::string_view part : kBareDraftParts) {
      if (source.starts_with(part)) return "mtp." + std::string(source);
    }
  }
  std::string_view rest = source;
  for (const std::string_view wrapper : kWrappers) {
    if (rest.starts_with(wrapper)) {
      rest.remove_prefix(wrapper.size());
      break;
    }
  }
  for (const auto& part : kParts) {
    if (rest.starts_with(part.stored)) {
      return std::string(part.canonical) + std::string(rest.substr(part.stored.size()));
    }
  }
  return std::string(source);
}

TensorRole role_of(std::string_view canonical) {
  if (canonical.ends_with("rotary_emb.inv_freq")) return TensorRole::kDerived;
  if (canonical.starts_with("model.")) return TensorRole::kTrunk;
  if (canonical.starts_with("lm_head.")) return TensorRole::kHead;
  if (canonical.starts_with("mtp.")) return TensorRole::kDraft;
  if (canonical.starts_with("visual.")) return TensorRole::kVision;
  if (canonical.starts_with(kReplacedPrefix)) return TensorRole::kReplaced;
  return TensorRole::kUnknown;
}

std::string replaced_name(std::string_view canonical) {
  return std::string(kReplacedPrefix) + std::string(canonical);
}

std::vector<std::string> spellings_of(std::string_view canonical) {
  const std::string name(canonical);
  switch (role_of(canonical)) {
    case TensorRole::kTrunk: {
      const std::string rest = name.substr(std::string_view("model.").size());
      return {"model.language_model." + rest, "language_model.model." + rest, name, rest};
    }
    case TensorRole::kHead:
      return {name, "language_model." + name};
    case TensorRole::kDraft:
      return {name, "model." + name, "language_model." + name};
    default:
      return {name};
  }
}

}  // namespace lockstep
