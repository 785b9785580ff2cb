#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/model_path.h"
#include "apps/progress_bar.h"
#include "apps/prompt_source.h"
#include "base/json.h"
#include "verify/eval/eval.h"

namespace lockstep {
namespace {

std::string eval_text(const EvalArgs& args, const verify::EvalReport& report) {
  const auto scored = static_cast<double>(report.result.scored);
  std::string text = fmt::format(
      "perplexity {:.6f} ({}), {} tokens scored, mean loss {:.6f} nats; windows of {}, stride {}\n",
      report.result.perplexity(), to_string(args.model.precision), report.result.scored,
      report.result.mean_loss, args.window, args.stride);
  if (!report.against) return text;
  const verify::EvalDifference& against = *report.against;
  return text + fmt::format(
                    "perplexity {:.6f} ({})\nKL divergence from it: mean {:.3e} nats, worst {:.3e} "
                    "at position {}\ntop 1 agrees at {} of {} positions ({:.3f} %)\n",
                    against.reference.perplexity(), to_string(*args.against), against.mean_kl,
                    against.worst_kl, against.worst_position, against.agreeing,
                    report.result.scored, 100.0 * static_cast<double>(against.agreeing) / scored);
}

std::string eval_json(const EvalArgs& args, const std::string& tuple,
                      const verify::EvalReport& report) {
  const auto figures = [](const verify::EvalResult& result) {
    return json::object{{"perplexity", result.perplexity()}, {"mean_loss", result.mean_loss}};
  };
  json::object object = figures(report.result);
  object["scored"] = report.result.scored;
  object["precision"] = tuple;
  object["window"] = args.window;
  object["stride"] = args.stride;
  if (report.against) {
    json::object against = figures(report.against->reference);
    against["precision"] = to_string(*args.against);
    against["mean_kl"] = report.against->mean_kl;
    against["worst_kl"] = report.against->worst_kl;
    against["worst_position"] = report.against->worst_position;
    against["top1_agreeing"] = report.against->agreeing;
    object["against"] = std::move(against);
  }
  return dump_json(object) + "\n";
}

}  // namespace

int eval_command(const EvalArgs& args, const Console& console) {
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  const auto text = read_prompt_file(args.file);
  if (!text.ok()) return fail(text.error());
  auto engine = load_engine(folder.value(), args.model, {}, console);
  if (!engine.ok()) return fail(engine.error());
  Engine& loaded = *engine.value();
  if (args.window > loaded.setup.context) {
    return fail(kFailed,
                fmt::format("--window is {}, {} positions fit", args.window, loaded.setup.context));
  }
  std::optional<OpenedModel> against;
  if (args.against) {
    ModelArgs other = args.model;
    other.precision = *args.against;
    auto opened = open_model(folder.value(), other);
    if (!opened.ok()) return fail(opened.error());
    against = std::move(opened).value();
  }
  const auto ids = loaded.tokenizer.encode(text.value());
  if (!ids.ok()) return fail(ids.error());
  const auto report = [&] {
    ProgressBar bar("scoring", console.err_terminal, ProgressBar::Unit::kSteps);
    return verify::evaluate(loaded.model, against ? &against->model : nullptr,
                            {.pool = loaded.pool, .isa = loaded.isa}, ids.value(),
                            {.window = args.window, .stride = args.stride},
                            [&](uint64_t done, uint64_t total) { bar.update(done, total); });
  }();
  if (!report.ok()) return fail(report.error());
  const Status written =
      print(args.json ? eval_json(args, loaded.model.precision_tuple(), report.value())
                      : eval_text(args, report.value()));
  return written.ok() ? kDone : fail(written.error());
}

}  // namespace lockstep
