// Lines of key=value on standard error, one at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep {

using LogFields = std::vector<std::pair<std::string_view, std::string>>;

// time=2026-01-31T12:00:00.123Z level=info event=request ...; values with blanks are quoted.
void log_line(std::string_view level, std::string_view event, const LogFields& fields);

}  // namespace lockstep
