#include "apps/start_report.h"

#include <fmt/format.h>

#include "apps/model_summary.h"
#include "runtime/memory_plan.h"

namespace lockstep {
namespace {

std::string model_line(const Engine& engine) {
  const ModelPart all = trunk_total(model_parts(engine.model));
  const ModelConfig& config = engine.model.config();
  return fmt::format("model      {}: {}, {} layers, {} parameters, {} ({})\n",
                     engine.model.checkpoint().path.filename().string(), config.model_type,
                     config.layers.size(), format_count(all.parameters), all.formats,
                     format_bytes(all.bytes));
}

std::string machine_line(const Engine& engine) {
  std::string isa = to_string(engine.isa);
  if (engine.isa == Isa::kScalar) {
    isa += best_isa() == Isa::kScalar ? " code, slow: none for this processor's vectors"
                                      : " code, slow: chosen by --isa";
  }
  const std::string note = engine.context_note.empty() ? "" : " (" + engine.context_note + ")";
  return fmt::format("runs on    {} thread{}, {}, precision {}, context {} of {}{}\n",
                     engine.pool.threads(), engine.pool.threads() == 1 ? "" : "s", isa,
                     to_string(engine.model.precision()), engine.setup.context,
                     engine.model.config().max_positions, note);
}

std::string memory_line(const Engine& engine) {
  return fmt::format("memory     {}\n", describe_plan(plan_memory(engine.model, engine.setup)));
}

std::string draft_line(const Engine& engine) {
  return fmt::format("draft head {}\n", engine.model.checkpoint().mtp.reason);
}

}  // namespace

std::string start_report(const Engine& engine, const SamplingChoice& sampling) {
  std::string report =
      model_line(engine) + machine_line(engine) + memory_line(engine) + draft_line(engine);
  for (const UnneededTensors& group : unused_tensors(engine.model.checkpoint()).unneeded) {
    report += fmt::format("not read   {}: {} tensors, {}\n", group.what, group.tensors.size(),
                          format_bytes(group.bytes));
  }
  for (const std::string& warning : engine.model.checkpoint().warnings) {
    report += fmt::format("note       {}\n", warning);
  }
  return report + fmt::format("sampling   {}\n", sampling.description);
}

}  // namespace lockstep
