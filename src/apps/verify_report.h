// How the verify commands end: their report on standard output, and the exit code.
#pragma once

#include <filesystem>
#include <string>

#include "apps/exit_code.h"
#include "base/json.h"
#include "base/result.h"
#include "verify/report.h"
#include "verify/stages/dump.h"

namespace lockstep {

// `text` and the clauses, or with `as_json` one object: that of the report with `members` in it.
// kDone where it is green, kFailed where it is red.
int conclude_report(const verify::Report& report, const std::string& text, json::object members,
                    bool as_json);

// A dump that is there and good, or the exit code of a command that has told the user why not:
// kMissing where there is no such file.
struct LoadedDump {
  verify::StageDump dump;
  int exit_code = kDone;
};
LoadedDump load_dump(const std::filesystem::path& path);

}  // namespace lockstep
