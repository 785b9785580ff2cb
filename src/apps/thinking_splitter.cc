#include "apps/thinking_splitter.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kBlanks = " \t\r\n";

// Length of the longest end of `text` that is a proper start of `tag`.
size_t partial_tag(std::string_view text, std::string_view tag) {
  for (size_t length = std::min(text.size(), tag.size() - 1); length > 0; --length) {
    if (tag.starts_with(text.substr(text.size() - length))) return length;
  }
  return 0;
}

// True if more text could still make `text` begin with `tag`.
bool may_become(std::string_view text, std::string_view tag) {
  return text.size() < tag.size() && tag.starts_with(text);
}

}  // namespace

bool ThinkingSplitter::skip_blanks() {
  pending_.erase(0, std::min(pending_.find_first_not_of(kBlanks), pending_.size()));
  return !pending_.empty();
}

// Gives out the thinking up to the tag, or to what may yet be blanks before it.
bool ThinkingSplitter::take_thinking(bool at_end, ReplyText& out) {
  const size_t tag = pending_.find(kClose);
  const bool closed = tag != std::string::npos;
  const size_t held = at_end ? 0 : partial_tag(pending_, kClose);
  const size_t end = closed ? tag : pending_.size() - held;
  const size_t text = std::string_view(pending_).substr(0, end).find_last_not_of(kBlanks);
  const size_t length = text == std::string::npos ? 0 : text + 1;
  out.thinking += pending_.substr(0, length);
  if (closed) {
    pending_.erase(0, end + kClose.size());
    place_ = Place::kAnswerStart;
    return true;
  }
  pending_.erase(0, at_end ? pending_.size() : length);
  return false;
}

// Moves on by one place; false if more text is needed.
bool ThinkingSplitter::step(bool at_end, ReplyText& out) {
  switch (place_) {
    case Place::kReplyStart: {
      // Blanks before a tag are dropped with it; before anything else they are the answer's.
      const size_t begin = std::min(pending_.find_first_not_of(kBlanks), pending_.size());
      const std::string_view text = std::string_view(pending_).substr(begin);
      if (text.starts_with(kOpen)) {
        pending_.erase(0, begin + kOpen.size());
        place_ = Place::kThinkingStart;
        return true;
      }
      if (text.starts_with(kClose)) {
        pending_.erase(0, begin + kClose.size());
        place_ = Place::kAnswerStart;
        return true;
      }
      if (!at_end && (text.empty() || may_become(text, kOpen) || may_become(text, kClose))) {
        return false;
      }
      place_ = Place::kAnswer;
      return true;
    }
    case Place::kThinkingStart:
      if (!skip_blanks()) return false;
      place_ = Place::kThinking;
      return true;
    case Place::kThinking:
      return take_thinking(at_end, out);
    case Place::kAnswerStart:
      if (!skip_blanks()) return false;
      place_ = Place::kAnswer;
      return true;
    case Place::kAnswer:
      out.answer += std::exchange(pending_, {});
      return false;
  }
  return false;
}

ReplyText ThinkingSplitter::push(std::string_view text) {
  pending_ += text;
  ReplyText out;
  while (step(false, out)) {
  }
  return out;
}

ReplyText ThinkingSplitter::finish() {
  ReplyText out;
  while (step(true, out)) {
  }
  return out;
}

bool ends_in_thinking(std::string_view prompt) {
  const size_t open = prompt.rfind(kOpen);
  if (open == std::string_view::npos) return false;
  const size_t turn = prompt.rfind("<|im_start|>");
  if (turn != std::string_view::npos && turn > open) return false;
  return prompt.find(kClose, open) == std::string_view::npos;
}

}  // namespace lockstep
