#include <fmt/format.h>

#include <string>
#include <vector>

#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/interrupt.h"
#include "apps/model_path.h"
#include "apps/progress_bar.h"
#include "verify/kernels/check_kernels.h"
#include "verify/kernels/plan.h"
#include "verify/kernels/shape_model.h"

namespace lockstep {
namespace {

// The plan of the model or of the named shape; else the exit code, and the user knows why.
struct Plan {
  std::vector<ShapeClass> classes;
  int code = kDone;
};

Plan plan_of_shape(const std::string& name) {
  const Result<verify::ShapeModel> model = verify::shape_model(name);
  if (!model.ok()) return {.classes = {}, .code = fail(kUsage, model.error().message)};
  return {.classes = verify::plan_launches(model.value().config, model.value().weights)};
}

Plan plan_of_model(const ModelArgs& args) {
  const auto folder = find_model(args.model);
  if (!folder.ok()) return {.classes = {}, .code = fail_to_find(folder.error())};
  const auto opened = open_model(folder.value(), args);
  if (!opened.ok()) return {.classes = {}, .code = fail(opened.error())};
  const Model& model = opened.value().model;
  return {.classes = verify::plan_launches(model.config(), model.weights())};
}

json::object report(std::span<const verify::KernelCheck> checks) {
  json::array rows;
  for (const verify::KernelCheck& check : checks) rows.push_back(verify::to_json(check));
  return {{"check", "kernels"},
          {"green", verify::green(checks)},
          {"summary", verify::summary(checks)},
          {"rows", std::move(rows)}};
}

}  // namespace

int verify_kernels_command(const VerifyKernelsArgs& args, const Console& console) {
  const Plan plan = args.shape.empty() ? plan_of_model(args.model) : plan_of_shape(args.shape);
  if (plan.code != kDone) return plan.code;
  const std::vector<ShapeClass> classes = verify::only(plan.classes, args.only);
  if (classes.empty()) {
    return fail(kUsage, fmt::format("no kernel of this plan has \"{}\" in its line; without --only "
                                    "all {} are listed",
                                    args.only, plan.classes.size()));
  }
  Status written;
  ProgressBar bar("checking", console.err_terminal, ProgressBar::Unit::kSteps);
  const InterruptScope interrupt(SecondInterrupt::kSetsFlag);
  const std::vector<verify::KernelCheck> checks =
      verify::check_kernels(classes, {.on_check =
                                          [&](const verify::KernelCheck& check) {
                                            bar.clear();
                                            if (!args.json && written.ok())
                                              written = print(verify::to_line(check) + "\n");
                                          },
                                      .on_step =
                                          [&](uint64_t done, uint64_t total) {
                                            bar.update(done, total);
                                            return written.ok() && !InterruptScope::flag();
                                          }});
  bar.clear();
  if (InterruptScope::flag()) return fail(kFailed, "interrupted: this is no verdict");
  const std::string end = args.json ? dump_json(report(checks), 2) : verify::summary(checks);
  if (written.ok()) written = print(end + "\n");
  if (!written.ok()) return fail(written.error());
  return verify::green(checks) ? kDone : kFailed;
}

}  // namespace lockstep
