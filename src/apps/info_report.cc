#include "apps/info_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/model_summary.h"
#include "runtime/memory_plan.h"

namespace lockstep {
namespace {

InfoRow row(std::string label, std::string text) {
  json::value value(text);
  return {std::move(label), std::move(value), std::move(text)};
}

InfoRow row(std::string label, int64_t number) {
  return {std::move(label), number, fmt::format("{}", number)};
}

std::string ffn_text(const ModelConfig& config) {
  if (config.ffn == Ffn::kDense) return fmt::format("dense, {} wide", config.intermediate_size);
  const MoeConfig& moe = config.moe;
  return fmt::format("{} experts of {}, {} used, and a shared one of {}", moe.experts,
                     moe.intermediate, moe.experts_per_token, moe.shared_intermediate);
}

std::string rope_text(const RopeConfig& rope) {
  if (!rope.yarn) return fmt::format("theta {}", rope.theta);
  return fmt::format("theta {}, yarn factor {} from {} positions", rope.theta, rope.yarn->factor,
                     rope.yarn->original_max_positions);
}

InfoSection shape_section(const Model& model) {
  const ModelConfig& config = model.config();
  const AttentionConfig& attention = config.attention;
  const GatedDeltaConfig& delta = config.delta;
  const ModelPart all = trunk_total(model_parts(model));
  InfoSection section{"model", {}};
  section.rows = {
      row("folder", model.checkpoint().path.string()),
      row("type", config.model_type),
      row("layout", to_string(model.checkpoint().layout)),
      {"parameters", all.parameters, format_count(all.parameters)},
      row("layers", describe_layers(config)),
      row("hidden size", config.hidden_size),
      row("feed-forward", ffn_text(config)),
      row("attention",
          fmt::format("{} query heads, {} of keys and values, {} wide, {} rotated", attention.heads,
                      attention.kv_heads, attention.head_dim, attention.rotary_dim)),
      row("gated delta", fmt::format("{} key heads of {}, {} value heads of {}, convolution of {}",
                                     delta.key_heads, delta.key_dim, delta.value_heads,
                                     delta.value_dim, delta.conv_kernel)),
      row("vocabulary", config.vocab_size),
      row("tokenizer ids", model.token_limit()),
      row("positions", config.max_positions),
      row("rotation", rope_text(config.rope)),
  };
  return section;
}

InfoSection findings_section(const OpenedModel& opened) {
  const Checkpoint& checkpoint = opened.model.checkpoint();
  InfoSection section{"found", {}};
  section.rows.push_back(row("norms", checkpoint.norms.reason));
  section.rows.push_back(row("output head", checkpoint.head_reason));
  section.rows.push_back(row("draft head", checkpoint.mtp.reason));
  if (checkpoint.mtp.origin != MtpOrigin::kNone) {
    section.rows.push_back(row("draft head norms", checkpoint.mtp_norms.reason));
  }
  json::array ids;
  std::vector<std::string> texts;
  for (const int32_t id : stop_ids(opened.model, opened.tokenizer)) {
    ids.push_back(id);
    texts.push_back(fmt::format("{} {}", id, opened.tokenizer.token_bytes(id)));
  }
  section.rows.push_back({"stop ids", std::move(ids), fmt::format("{}", fmt::join(texts, ", "))});
  for (const UnneededTensors& group : unused_tensors(checkpoint).unneeded) {
    section.rows.push_back(
        row("not needed: " + group.what,
            fmt::format("{} tensors, {}", group.tensors.size(), format_bytes(group.bytes))));
  }
  for (size_t i = 0; i < checkpoint.warnings.size(); ++i) {
    section.rows.push_back(row(fmt::format("note {}", i + 1), checkpoint.warnings[i]));
  }
  section.rows.push_back(row("precision tuple", opened.model.precision_tuple()));
  return section;
}

std::string key_of(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return text;
}

}  // namespace

InfoReport info_report(const OpenedModel& opened, const std::string& template_fault) {
  return {shape_section(opened.model), findings_section(opened), parts_section(opened.model),
          memory_section(opened.model), unsupported_section(opened, template_fault)};
}

std::string info_text(const InfoReport& report) {
  std::string text;
  for (const InfoSection& section : report) {
    size_t width = 0;
    for (const InfoRow& r : section.rows) width = std::max(width, r.label.size());
    text += text.empty() ? "" : "\n";
    text += section.title + "\n";
    for (const InfoRow& r : section.rows) {
      text += fmt::format("  {:<{}}  {}\n", r.label, width, r.text);
    }
  }
  return text;
}

std::string info_json(const InfoReport& report) {
  json::object root;
  for (const InfoSection& section : report) {
    json::object rows;
    for (const InfoRow& r : section.rows) rows[key_of(r.label)] = r.value;
    root[key_of(section.title)] = std::move(rows);
  }
  return dump_json(root, 2) + "\n";
}

}  // namespace lockstep
