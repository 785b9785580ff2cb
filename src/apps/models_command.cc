#include <fmt/format.h>

#include "apps/commands.h"
#include "apps/model_path.h"
#include "base/json.h"

namespace lockstep {
namespace {

std::string models_json() {
  json::array list;
  for (const EmbeddedModel& model : embedded_models()) {
    const auto folder = embedded_model_folder(model);
    json::object item = {{"name", model.name}, {"description", model.description}};
    item["folder"] = folder ? json::value(folder->string()) : json::value(nullptr);
    list.push_back(std::move(item));
  }
  return dump_json(list) + "\n";
}

std::string models_text() {
  std::string text;
  for (const EmbeddedModel& model : embedded_models()) {
    const auto folder = embedded_model_folder(model);
    text += fmt::format("{:<10} {}\n{:<10} {}\n", model.name, model.description, "",
                        folder ? folder->string() : "not installed");
  }
  return text;
}

}  // namespace

int models_command(const ModelsArgs& args, const Console&) {
  const Status written = print(args.json ? models_json() : models_text());
  return written.ok() ? kDone : fail(written.error());
}

}  // namespace lockstep
