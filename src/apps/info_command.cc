#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/info_report.h"
#include "apps/model_path.h"
#include "apps/model_text.h"

namespace lockstep {

int info_command(const InfoArgs& args, const Console& console) {
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  const auto opened = open_model(folder.value(), args.model);
  if (!opened.ok()) return fail(opened.error());
  const auto chat_template = chat_template_of(opened.value().model.checkpoint());
  const std::string fault = chat_template.ok() ? "" : chat_template.error().message;
  const InfoReport report = info_report(opened.value(), fault);
  const std::string text = args.json ? info_json(report) : info_text(report);
  const Status written = print(console.out_terminal ? without_controls(text) : text);
  return written.ok() ? kDone : fail(written.error());
}

}  // namespace lockstep
