// Reads prompts: text from wherever it is given, or token ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lockstep {

// Valid UTF-8 from here on; anything else is an error with the byte offset. `what` names the text.
Status check_prompt_text(std::string_view text, std::string_view what);

// A file's text, at most 64 MiB, checked as above.
Result<std::string> read_prompt_file(const std::string& path);

// Standard input to its end, likewise.
Result<std::string> read_standard_input();

// Decimal ids apart by spaces, line breaks or commas; brackets around them are ignored.
Result<std::vector<int32_t>> read_ids_file(const std::string& path);
Result<std::vector<int32_t>> parse_ids(std::string_view text, std::string_view what);

}  // namespace lockstep
