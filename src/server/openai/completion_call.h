// The body of POST /v1/completions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/openai/common_fields.h"

namespace lockstep::openai {

struct CompletionCall {
  GenerationCall generation = {};
  AnswerForm form = {};
  std::string echo = {};                  // text that stands before the reply's own
  std::vector<std::string> ignored = {};  // fields that change nothing
};

// As read_chat_call. `prompt` is a text or a list of token ids.
ApiStatus read_completion_call(const json::object& body, const ServedModel& model,
                               CompletionCall& call);

}  // namespace lockstep::openai
