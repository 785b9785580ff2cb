// Everything `lockstep info` says, once, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "apps/engine.h"
#include "base/json.h"

namespace lockstep {

struct InfoRow {
  std::string label;  // "norm convention"; with underscores it is the JSON key
  json::value value;
  std::string text;
};

struct InfoSection {
  std::string title;
  std::vector<InfoRow> rows;
};

using InfoReport = std::vector<InfoSection>;

InfoReport info_report(const OpenedModel& opened, const std::string& template_fault);

// Aligned lines.
std::string info_text(const InfoReport& report);
// {"section": {"label": value}}.
std::string info_json(const InfoReport& report);

// The sections of info_report that take more than a few lines to make.
InfoSection parts_section(const Model& model);
InfoSection memory_section(const Model& model);
InfoSection unsupported_section(const OpenedModel& opened, const std::string& template_fault);

}  // namespace lockstep
