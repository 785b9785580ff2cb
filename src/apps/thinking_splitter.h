// Tells thinking from answer in the text of a reply, however the text is cut.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

struct ReplyText {
  std::string thinking;
  std::string answer;
};

// A reply begins inside a think block where the prompt ends in one, or with <think> of its own; the
// first </think> ends it. Tags, empty blocks and the line breaks around them are in neither part.
class ThinkingSplitter {
 public:
  explicit ThinkingSplitter(bool begins_in_thinking)
      : place_(begins_in_thinking ? Place::kThinkingStart : Place::kReplyStart) {}

  // What `text` adds to both parts. Blanks that may end a part, and the start of what may be a tag,
  // are held back until the text goes on.
  ReplyText push(std::string_view text);
  // The rest.
  ReplyText finish();

 private:
  enum class Place { kReplyStart, kThinkingStart, kThinking, kAnswerStart, kAnswer };

  bool step(bool at_end, ReplyText& out);
  bool skip_blanks();
  bool take_thinking(bool at_end, ReplyText& out);

  Place place_;
  std::string pending_;
};

// True if a rendered prompt leaves a think block open.
bool ends_in_thinking(std::string_view prompt);

}  // namespace lockstep
