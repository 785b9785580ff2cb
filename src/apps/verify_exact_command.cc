#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/interrupt.h"
#include "apps/model_path.h"
#include "apps/progress_bar.h"
#include "device/cpu_info.h"
#include "runtime/memory_plan.h"
#include "verify/exact/exact.h"

namespace lockstep {
namespace {

using verify::CaseOptions;
using verify::Prompt;

// The one that was asked for, else all that this processor has, the fastest first.
std::vector<Isa> instruction_sets(const std::optional<Isa>& asked) {
  if (asked) return {*asked};
  std::vector<Isa> isas = {best_isa()};
  for (const Isa isa : {Isa::kAvx512, Isa::kAvx2, Isa::kNeon, Isa::kScalar}) {
    if (isa_available(isa) && isa != isas.front()) isas.push_back(isa);
  }
  return isas;
}

CaseOptions case_options(const VerifyExactArgs& args) {
  const int cores = usable_cpus();
  return {.quick = args.quick,
          .threads = args.model.threads.value_or(std::min(cores, kMaxThreads)),
          .thread_counts = {1, 2, std::min(2 * cores + 1, kMaxThreads)},
          .isas = instruction_sets(args.model.isa)};
}

Result<std::vector<Prompt>> prompts_for(const VerifyExactArgs& args, const OpenedModel& opened) {
  if (args.prompts.empty()) return verify::built_in_prompts(opened.tokenizer);
  return verify::read_prompts(args.prompts, opened.tokenizer);
}

// Two passes, one for the reference, and the states of the most streams that a case has.
Status check_memory(const Model& model, int64_t rows) {
  const std::optional<uint64_t> available = available_memory();
  if (!available) return {};
  constexpr int64_t kStreams = 20;
  const int64_t pages = kStreams * ((rows + kKvBlock - 1) / kKvBlock);
  MemoryPlan plan = plan_memory(model, {.streams = kStreams, .pages = pages, .round_rows = rows});
  plan.workspace =
      2 * ForwardPass::workspace_bytes(model.config(), {.rows = rows, .logit_rows = rows});
  if (plan.total() <= *available) return {};
  return Error{ErrorCode::kOutOfMemory,
               fmt::format("the check needs {}, {} are free: shorter prompts need less",
                           format_bytes(plan.total()), format_bytes(*available))};
}

// Clauses as they are decided, above the bar.
class Output {
 public:
  Output(const VerifyExactArgs& args, const Console& console)
      : quiet_(args.json), bar_("checking", console.err_terminal, ProgressBar::Unit::kSteps) {}

  void show(std::string_view line) {
    bar_.clear();
    if (!quiet_ && written_.ok()) written_ = print(fmt::format("{}\n", line));
  }
  // False: stop, nobody listens or Ctrl-C was pressed.
  bool update(size_t done, size_t total) {
    bar_.update(done, total);
    return written_.ok() && !InterruptScope::flag();
  }

 private:
  bool quiet_;
  ProgressBar bar_;
  Status written_;
};

json::object to_json(const verify::Report& report, const OpenedModel& opened,
                     const CaseOptions& cases, const std::string& hash) {
  json::object object = report.to_json();
  object["precision"] = opened.model.precision_tuple();
  object["isa"] = to_string(cases.isas.front());
  object["logits_hash"] = hash;
  return object;
}

Result<bool> check(const VerifyExactArgs& args, const OpenedModel& opened, const Console& console) {
  const CaseOptions cases = case_options(args);
  LOCKSTEP_ASSIGN_OR_RETURN(const std::vector<Prompt> prompts, prompts_for(args, opened));
  LOCKSTEP_RETURN_IF_ERROR(check_memory(opened.model, verify::exact_rows(prompts, cases)));
  const InterruptScope interrupt(SecondInterrupt::kSetsFlag);
  Output output(args, console);
  verify::Report report("exact",
                        [&](const verify::Clause& clause) { output.show(to_text(clause)); });
  const verify::ExactOptions options = {.cases = cases, .progress = [&](size_t done, size_t total) {
                                          return output.update(done, total);
                                        }};
  LOCKSTEP_RETURN_IF_ERROR(check_exact(opened.model, prompts, options, report));
  LOCKSTEP_ASSIGN_OR_RETURN(const verify::BitHash hash, logits_hash(opened.model, prompts, cases));
  output.show(fmt::format("logits {}", to_string(hash)));
  output.show(report.summary());
  if (args.json) {
    const json::object object = to_json(report, opened, cases, to_string(hash));
    LOCKSTEP_RETURN_IF_ERROR(print(dump_json(object, 2) + "\n"));
  }
  return report.green();
}

}  // namespace

int verify_exact_command(const VerifyExactArgs& args, const Console& console) {
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  const auto opened = open_model(folder.value(), args.model);
  if (!opened.ok()) return fail(opened.error());
  const auto green = check(args, opened.value(), console);
  if (!green.ok()) {
    const bool missing = green.error().code == ErrorCode::kNotFound;
    return fail(missing ? kMissing : kFailed, green.error().message);
  }
  return green.value() ? kDone : kFailed;
}

}  // namespace lockstep
