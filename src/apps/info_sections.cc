#include <fmt/format.h>

#include <set>

#include "apps/info_report.h"
#include "apps/model_summary.h"
#include "device/cpu_info.h"
#include "runtime/memory_plan.h"

namespace lockstep {
namespace {

InfoRow part_row(const ModelPart& part) {
  const double bits = 8.0 * static_cast<double>(part.bytes) / static_cast<double>(part.parameters);
  return {part.name,
          json::object{{"format", part.formats},
                       {"parameters", part.parameters},
                       {"bytes", part.bytes},
                       {"bits_per_weight", bits}},
          fmt::format("{:>9} {:>9} {:5.2f} bits  {}", format_count(part.parameters),
                      format_bytes(part.bytes), bits, part.formats)};
}

// Of one stream without a prompt cache: what a context takes.
InfoRow plan_row(const Model& model, int64_t context) {
  const MemoryPlan plan =
      plan_memory(model, {.context = context, .pages = EngineOptions::least_pages(context)});
  return {fmt::format("context {}", context),
          json::object{{"total", plan.total()},
                       {"weights", plan.weights},
                       {"keys_and_values", plan.kv},
                       {"state", plan.state},
                       {"workspace", plan.workspace},
                       {"reserve", plan.reserve}},
          describe_plan(plan)};
}

}  // namespace

InfoSection parts_section(const Model& model) {
  InfoSection section{"parts", {}};
  const std::vector<ModelPart> parts = model_parts(model);
  for (const ModelPart& part : parts) section.rows.push_back(part_row(part));
  return section;
}

InfoSection memory_section(const Model& model) {
  InfoSection section{"memory", {}};
  const int64_t most = model.config().max_positions;
  for (const int64_t context :
       std::set<int64_t>{std::min<int64_t>(4096, most), std::min<int64_t>(32768, most), most}) {
    section.rows.push_back(plan_row(model, context));
  }
  if (const auto available = available_memory()) {
    section.rows.push_back({"free now", *available, format_bytes(*available)});
    const auto fitting = fit_memory(model, {.streams = 1, .cache_bytes = 0}, *available);
    section.rows.push_back(
        {"largest context", fitting.ok() ? json::value(fitting.value().context) : json::value(0),
         fitting.ok() ? fmt::format("{}", fitting.value().context) : fitting.error().message});
  }
  return section;
}

InfoSection unsupported_section(const OpenedModel& opened, const std::string& template_fault) {
  InfoSection section{"not supported", {}};
  const auto add = [&](std::string label, std::string text) {
    section.rows.push_back({std::move(label), json::value(text), text});
  };
  const Checkpoint& checkpoint = opened.model.checkpoint();
  if (checkpoint.config.has_vision) add("images", "the vision tower is not read yet: text only");
  if (!template_fault.empty()) add("chat template", template_fault + " (run --raw works)");
  add("devices", "the processor only");
  return section;
}

}  // namespace lockstep
