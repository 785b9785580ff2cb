#include "apps/verify_report.h"

#include <fmt/format.h>

#include "apps/console.h"
#include "checkpoint/mapped_file.h"

namespace lockstep {

int conclude_report(const verify::Report& report, const std::string& text, json::object members,
                    bool as_json) {
  std::string out;
  if (as_json) {
    json::object object = report.to_json();
    for (auto& [key, value] : members) object[key] = std::move(value);
    out = dump_json(object) + "\n";
  } else {
    out = text;
    if (!out.empty()) out += '\n';
    for (const verify::Clause& clause : report.clauses()) out += verify::to_text(clause) + "\n";
    out += report.summary() + "\n";
  }
  const Status written = print(without_controls(out));
  if (!written.ok()) return fail(written.error());
  return report.green() ? kDone : kFailed;
}

LoadedDump load_dump(const std::filesystem::path& path) {
  if (!file_exists(path)) {
    return {{}, fail(kMissing, fmt::format("{}: there is no such file", path.string()))};
  }
  auto dump = verify::read_dump(path);
  if (!dump.ok()) return {{}, fail(dump.error())};
  return {std::move(dump).value(), kDone};
}

}  // namespace lockstep
