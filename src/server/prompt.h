// From messages to the ids that a model reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/prompt_cache/save_points.h"
#include "server/served_model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace lockstep {

struct Prompt {
  std::vector<int32_t> ids;
  bool begins_in_thinking = false;    // it leaves a think block open
  std::vector<SavePoint> marks = {};  // where a later prompt may go another way
};

// The text that the model's template makes of the messages, which are normalised first
// (text/chat_messages.h). `continue_final`: the last message is an assistant's and its text is the
// beginning of the reply. Errors: no template, a message or template variable that it refuses.
Result<std::string> render_messages(const ServedModel& model, ChatInput input, bool continue_final);

Result<Prompt> encode_prompt(const Tokenizer& tokenizer, const std::string& text);

// The points of a prompt at which a later one of the same conversation, or of another with the same
// system text, may part from it: the end of the first block, the end of the last turn, and just
// before the think tag of the reply to come.
std::vector<SavePoint> prompt_marks(std::span<const int32_t> ids, const Tokenizer& tokenizer);

}  // namespace lockstep
