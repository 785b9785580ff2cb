#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/convert_text.h"
#include "apps/interrupt.h"
#include "apps/model_path.h"
#include "apps/model_summary.h"
#include "apps/progress_bar.h"
#include "base/thread_pool.h"
#include "checkpoint/convert/convert.h"
#include "device/cpu_info.h"
#include "runtime/memory_plan.h"

namespace lockstep {
namespace {

Result<Checkpoint> open_source(const std::filesystem::path& path, const ModelArgs& args) {
  OpenOptions options;
  options.mtp_path = args.mtp;
  options.use_mtp = !args.no_mtp;
  return open_checkpoint(path, options);
}

Result<ConvertReport> write_layout(Checkpoint& source, const ConvertArgs& args,
                                   const ConvertOptions& options) {
  if (args.to == Layout::kGguf) {
    LOCKSTEP_ASSIGN_OR_RETURN(const TextForGguf text, text_for_gguf(source));
    for (const std::string& line : text.notes) note(line);
    return convert_to_gguf(source, text.view(), args.gguf_type, args.out, options);
  }
  LOCKSTEP_ASSIGN_OR_RETURN(const std::vector<TextFile> files, text_for_folder(source));
  if (args.to == Layout::kMlx) {
    return convert_to_mlx(source, args.affine, files, args.out, options);
  }
  return convert_to_hugging_face(source, files, args.out, options);
}

Result<ConvertReport> convert(Checkpoint& source, const ConvertArgs& args, const Console& console) {
  ThreadPool pool(args.model.threads.value_or(usable_cpus()));
  ProgressBar writing("writing", console.err_terminal);
  ProgressBar checking("reading back", console.err_terminal);
  const InterruptScope interrupt(SecondInterrupt::kSetsFlag);
  const auto show = [](ProgressBar& bar) {
    return [&bar](uint64_t done, uint64_t total) {
      bar.update(done, total);
      return !InterruptScope::flag();
    };
  };
  const ConvertOptions options{.pool = &pool, .writing = show(writing), .checking = show(checking)};
  return write_layout(source, args, options);
}

// What the new file lacks of the old one.
void tell_what_is_left(const Checkpoint& source) {
  for (const UnneededTensors& part : unused_tensors(source).unneeded) {
    note(fmt::format("left out: {}, {}", part.what, format_bytes(part.bytes)));
  }
}

}  // namespace

int convert_command(const ConvertArgs& args, const Console& console) {
  const auto path = find_model(args.model.model);
  if (!path.ok()) return fail_to_find(path.error());
  auto source = open_source(path.value(), args.model);
  if (!source.ok()) return fail(source.error());
  for (const std::string& warning : source.value().warnings) note("warning: " + warning);
  const auto converted = convert(source.value(), args, console);
  if (!converted.ok()) return fail(converted.error());
  tell_what_is_left(source.value());
  const ConvertReport& report = converted.value();
  note(fmt::format("wrote {}: {} tensors, {}, draft head {}", report.path.string(), report.tensors,
                   format_bytes(report.bytes),
                   source.value().config.mtp_layers > 0 ? "included" : "none"));
  const std::string change =
      report.error.worst == 0.0
          ? "no value changed"
          : fmt::format("values change by {:.3g} of their root mean square at most ({})",
                        report.error.worst, report.error.tensor);
  note("read back and found as encoded; " + change);
  return kDone;
}

}  // namespace lockstep
