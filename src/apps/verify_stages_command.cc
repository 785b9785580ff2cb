#include <fmt/format.h>

#include <filesystem>

#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/model_path.h"
#include "apps/progress_bar.h"
#include "apps/prompt_source.h"
#include "apps/verify_report.h"
#include "verify/stages/compare.h"
#include "verify/stages/goals.h"
#include "verify/stages/positions.h"
#include "verify/stages/record.h"
#include "verify/stages/table.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using verify::Comparison;
using verify::EngineRecord;
using verify::StageDump;

std::string describe(const char* name, const StageDump& dump) {
  return fmt::format("{}: {}, {}, {}; weights {}, {} ids, {} positions kept\n", name,
                     dump.identity.producer, dump.identity.source, dump.identity.precision,
                     dump.identity.weights, dump.ids.size(), dump.positions.size());
}

int compare_two(const VerifyStagesArgs& args) {
  const LoadedDump a = load_dump(args.model.model);
  if (a.exit_code != kDone) return a.exit_code;
  const LoadedDump b = load_dump(*args.second);
  if (b.exit_code != kDone) return b.exit_code;
  const auto comparison = verify::compare_dumps(a.dump, b.dump);
  if (!comparison.ok()) return fail(comparison.error());
  verify::Report report("stages");
  verify::judge(comparison.value(), a.dump.identity, b.dump.identity, report);
  const std::string text =
      describe("A", a.dump) + describe("B", b.dump) + "\n" + verify::to_text(comparison.value());
  return conclude_report(report, text, {{"comparison", verify::to_json(comparison.value())}},
                         args.json);
}

// A run of one sequence, from the command line to the dumps.
class StageRun {
 public:
  StageRun(const VerifyStagesArgs& args, const Console& console, Engine& engine)
      : args_(args), console_(console), engine_(engine) {}

  int run() {
    const Status recorded = record();
    if (!recorded.ok()) return fail(recorded.error());
    if (!args_.float64) return kDone;
    verify::Report report("stages");
    std::string text = describe("A", record_.dump);
    json::object members;
    for (const verify::Feed feed : {verify::Feed::kOwn, verify::Feed::kChained}) {
      ProgressBar bar("float64", console_.err_terminal, ProgressBar::Unit::kSteps);
      const StageDump reference =
          verify::record_float64(engine_.model, record_, feed, progress(bar));
      const Status written = write(reference, reference.identity.source);
      if (!written.ok()) return fail(written.error());
      const auto comparison = verify::compare_dumps(record_.dump, reference);
      if (!comparison.ok()) return fail(comparison.error());
      verify::judge(comparison.value(), record_.dump.identity, reference.identity, report);
      text += "\n" + describe("B", reference) + "\n" + verify::to_text(comparison.value());
      members[reference.identity.source] = verify::to_json(comparison.value());
    }
    return conclude_report(report, text, std::move(members), args_.json);
  }

 private:
  Status record() {
    std::vector<int32_t> ids;
    if (args_.ids_file) {
      LOCKSTEP_ASSIGN_OR_RETURN(ids, read_ids_file(*args_.ids_file));
    } else {
      LOCKSTEP_RETURN_IF_ERROR(check_prompt_text(*args_.second, "the prompt"));
      LOCKSTEP_ASSIGN_OR_RETURN(ids, engine_.tokenizer.encode(*args_.second));
    }
    if (ids.empty() || std::ssize(ids) > engine_.setup.context) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("the sequence has {} ids; from 1 to {} are possible", ids.size(),
                               engine_.setup.context)};
    }
    LOCKSTEP_ASSIGN_OR_RETURN(const std::vector<int32_t> positions,
                              verify::parse_positions(args_.positions, std::ssize(ids)));
    LOCKSTEP_RETURN_IF_ERROR(make_folder());
    {
      ProgressBar bar("running", console_.err_terminal, ProgressBar::Unit::kSteps);
      LOCKSTEP_ASSIGN_OR_RETURN(
          record_, verify::record_engine(engine_.model, {.pool = engine_.pool, .isa = engine_.isa},
                                         ids, positions, progress(bar)));
    }
    return write(record_.dump, "engine");
  }

  bool dumps_one_file() const { return args_.dump->ends_with(".safetensors"); }

  Status make_folder() const {
    if (!args_.dump || dumps_one_file()) return {};
    std::error_code error;
    fs::create_directories(*args_.dump, error);
    if (!error) return {};
    return Error{ErrorCode::kIo,
                 fmt::format("cannot make the folder {}: {}", *args_.dump, error.message())};
  }

  Status write(const StageDump& dump, const std::string& name) const {
    if (!args_.dump) return {};
    const fs::path path =
        dumps_one_file() ? fs::path(*args_.dump) : fs::path(*args_.dump) / (name + ".safetensors");
    LOCKSTEP_RETURN_IF_ERROR(verify::write_dump(path, dump));
    note(fmt::format("wrote {}: {} stages at {} of {} positions", path.string(), dump.stages.size(),
                     dump.positions.size(), dump.ids.size()));
    return {};
  }

  static verify::Progress progress(ProgressBar& bar) {
    return [&bar](uint64_t done, uint64_t total) { bar.update(done, total); };
  }

  const VerifyStagesArgs& args_;
  const Console& console_;
  Engine& engine_;
  EngineRecord record_;
};

}  // namespace

int verify_stages_command(const VerifyStagesArgs& args, const Console& console) {
  if (args.compares_dumps()) return compare_two(args);
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  auto engine = load_engine(folder.value(), args.model, {}, console);
  if (!engine.ok()) return fail(engine.error());
  return StageRun(args, console, *engine.value()).run();
}

}  // namespace lockstep
