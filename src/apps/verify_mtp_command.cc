#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/model_path.h"
#include "apps/progress_bar.h"
#include "apps/verify_report.h"
#include "verify/mtp/mtp.h"
#include "verify/stages/table.h"

namespace lockstep {
namespace {

std::string acceptance_text(const verify::Acceptance& acceptance) {
  const auto share = [&](int64_t count) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(acceptance.drafts);
  };
  return fmt::format(
      "acceptance over {} drafts: {} ({:.1f} %) with hidden rows after the final norm, {} ({:.1f} "
      "%) before it\n",
      acceptance.drafts, acceptance.post, share(acceptance.post), acceptance.pre,
      share(acceptance.pre));
}

}  // namespace

int verify_mtp_command(const VerifyMtpArgs& args, const Console& console) {
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  const LoadedDump reference = load_dump(args.reference);
  if (reference.exit_code != kDone) return reference.exit_code;
  auto engine = load_engine(folder.value(), args.model, {}, console);
  if (!engine.ok()) return fail(engine.error());
  Engine& loaded = *engine.value();
  const auto result = [&] {
    ProgressBar bar("drafting", console.err_terminal, ProgressBar::Unit::kSteps);
    return verify::compare_mtp(loaded.model, {.pool = loaded.pool, .isa = loaded.isa},
                               reference.dump,
                               [&](uint64_t done, uint64_t total) { bar.update(done, total); });
  }();
  if (!result.ok()) return fail(result.error());
  verify::Report report("mtp");
  verify::judge_mtp(result.value(), report);
  const verify::Acceptance& acceptance = result.value().acceptance;
  json::object members = {{"comparison", verify::to_json(result.value().comparison)},
                          {"acceptance", json::object{{"drafts", acceptance.drafts},
                                                      {"post", acceptance.post},
                                                      {"pre", acceptance.pre}}}};
  const std::string text =
      verify::to_text(result.value().comparison) + "\n" + acceptance_text(acceptance);
  return conclude_report(report, text, std::move(members), args.json);
}

}  // namespace lockstep
