// The fields that chat and completions share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sampling/settings.h"
#include "server/fields.h"
#include "server/generation.h"
#include "server/served_model.h"

namespace lockstep::openai {

// How the answer is to be given.
struct AnswerForm {
  bool stream = false;
  bool include_usage = false;  // in a stream: a last chunk with it
  bool return_tokens = false;  // the ids beside the text
};

// Reads samplers, seed, n, stops, cache and the form of the answer into `call` and `form`. Errors
// stay in `fields`.
void read_common_fields(Fields& fields, const ServedModel& model, GenerationCall& call,
                        AnswerForm& form);

// Fields that change nothing here: named once in the log, by the caller.
std::vector<std::string> ignored_fields(Fields& fields);

// What the engine would refuse, with the name of the field.
ApiStatus check_prompt_length(const ServedModel& model, size_t prompt_tokens);

}  // namespace lockstep::openai
