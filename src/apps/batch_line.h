// One line of a batch file: a prompt and what is asked of it, as a JSON object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/chat_message.h"
#include "apps/command_line.h"
#include "base/json.h"
#include "base/result.h"

namespace lockstep {

struct BatchLine {
  json::value id = nullptr;  // the caller's, given back as it is
  // One of the three.
  std::optional<std::string> prompt;
  std::vector<ChatMessage> messages;
  std::vector<int32_t> ids;

  bool raw = false;  // the prompt as it stands, without the template
  int64_t replies = 1;
  ReplyArgs reply;  // with `system` only beside a prompt
  std::optional<int64_t> logprobs;
  std::optional<int64_t> prompt_logprobs;
  std::optional<std::string> prediction;
};

// `line` gives what it says over `defaults`. Unknown keys, wrong types and contradictions are
// errors by name. `what` names the line.
Result<BatchLine> parse_batch_line(std::string_view line, const ReplyArgs& defaults,
                                   std::string_view what);

}  // namespace lockstep
