#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/interrupt.h"
#include "apps/model_path.h"
#include "apps/model_summary.h"
#include "apps/progress_bar.h"
#include "base/thread_pool.h"
#include "checkpoint/synth/synth.h"
#include "device/cpu_info.h"
#include "runtime/memory_plan.h"

namespace lockstep {
namespace {

Result<SynthReport> write_model(const SynthArgs& args, const Console& console,
                                const std::filesystem::path& tokenizer_folder) {
  LOCKSTEP_ASSIGN_OR_RETURN(const SynthShape shape, find_synth_shape(args.shape));
  ThreadPool pool(args.threads.value_or(usable_cpus()));
  ProgressBar bar("writing", console.err_terminal);
  const InterruptScope interrupt(SecondInterrupt::kSetsFlag);
  SynthOptions options;
  options.layout = args.layout;
  options.seed = args.seed.value_or(0);
  options.tokenizer_folder = tokenizer_folder;
  options.pool = &pool;
  options.progress = [&](uint64_t done, uint64_t total) {
    bar.update(done, total);
    return !InterruptScope::flag();
  };
  return write_synthetic_checkpoint(shape, args.folder, options);
}

}  // namespace

int synth_command(const SynthArgs& args, const Console& console) {
  const auto tokenizer = embedded_model_folder(embedded_models().front());
  if (!tokenizer)
    return fail(kMissing, "the embedded model, whose tokenizer is lent, is not there");
  const auto report = write_model(args, console, *tokenizer);
  if (!report.ok()) return fail(report.error());
  const SynthReport& written = report.value();
  note(fmt::format("wrote {}: {} tensors, {}, {} parameters and {} of the draft head",
                   written.folder.string(), written.tensors, format_bytes(written.tensor_bytes),
                   format_count(written.parameters.text), format_count(written.parameters.mtp)));
  return kDone;
}

}  // namespace lockstep
