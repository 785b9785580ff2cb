// The body of POST /v1/chat/completions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/openai/common_fields.h"

namespace lockstep::openai {

struct ChatCall {
  GenerationCall generation = {};
  AnswerForm form = {};
  bool logprobs = false;
  std::vector<std::string> ignored = {};  // fields that change nothing
};

// docs/api.md lists the fields. What is not one of them, or holds what this server cannot do, is an
// error by name.
ApiStatus read_chat_call(const json::object& body, const ServedModel& model, ChatCall& call);

// What /apply-template takes: the fields of a chat that make its prompt. The others are not read.
ApiStatus render_chat(const json::object& body, const ServedModel& model, std::string& text);

}  // namespace lockstep::openai
