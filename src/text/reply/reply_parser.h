// Tells thinking, content and tool calls apart in the text of a reply, as it comes.
//
// The family writes thinking</think>\n\ncontent\n\n<tool_call>\n<function=NAME>\n<parameter=KEY>\n
// VALUE\n</parameter>\n</function>\n</tool_call>   where the prompt has opened the think block.
// What models do besides is read as it is meant:
// - the reply may open the block itself, or close one that is not open; neither tag is content;
// - a call may stand inside an unclosed think block, and without <tool_call> if a tool has its
// name;
// - a value ends at the </parameter> that another tag of the call or the end of the reply follows,
// so
//   it may hold any tag itself; one line break on either side of it is not part of it;
// - </parameter>, </function> and </tool_call> may be missing at the end of a call.
// What is no call is text: nothing of a reply is lost but blanks around tags.
//
// However the text is cut into pieces, the events joined are the same.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "text/reply/tag_match.h"
#include "text/reply/tool_schema.h"

namespace lockstep {

struct TextEvent {
  enum class Kind : uint8_t {
    kThinking,   // text: a piece
    kContent,    // text: a piece
    kCallBegin,  // text: the tool's name
    kArguments,  // text: a piece of the call's arguments, a JSON object
    kCallEnd,    // the arguments are whole
    kCallCut,    // the reply was cut off inside the call: its arguments are no JSON yet
  };
  Kind kind = Kind::kContent;
  std::string text = {};

  bool operator==(const TextEvent&) const = default;
};

class ReplyParser {
 public:
  // Without tools there are no calls, whatever the text looks like.
  ReplyParser(bool begins_in_thinking, ToolSignatures tools)
      : tools_(std::move(tools)),
        place_(begins_in_thinking ? Place::kThinkingStart : Place::kReplyStart),
        thinking_(begins_in_thinking) {}

  // Appends what `text`, a piece of UTF-8, makes certain. Held back until the text goes on: blanks
  // that may belong to a tag, and the start of what may be one.
  void push(std::string_view text, std::vector<TextEvent>& events);
  // Appends the rest. `whole`: the model ended the reply itself, so a call that it left open is
  // meant to end there; otherwise it was cut off. Nothing may be pushed after it.
  void finish(bool whole, std::vector<TextEvent>& events);

  // Whether text that comes next is thinking, as far as is known.
  bool thinking() const { return thinking_; }

 private:
  enum class Place : uint8_t {
    kReplyStart,     // blanks and a think tag are dropped together
    kThinkingStart,  // blanks are dropped
    kContentStart,   // blanks are dropped
    kText,           // thinking or content
    kCall,           // between the parameters of a call
    kValue,          // inside one
    kAfterCall,      // </tool_call> and blanks are dropped
  };

  struct CallHead {
    Match match = Match::kNo;
    size_t length = 0;
    std::string_view name;
  };

  using Events = std::vector<TextEvent>;

  bool step(bool at_end, Events& events);
  bool step_reply_start(bool at_end);
  bool step_blanks(Place next);
  bool step_text(bool at_end, Events& events);
  bool step_call(bool at_end, Events& events);
  bool step_value(bool at_end, Events& events);
  bool step_after_call(bool at_end);

  CallHead match_call(std::string_view text, bool at_end) const;
  Match match_value_end(std::string_view text, bool at_end, size_t& length) const;
  void begin_call(std::string_view name, Events& events);
  void begin_parameter(std::string_view key, Events& events);
  void add_value(std::string_view piece, bool last, Events& events);
  void end_call(TextEvent::Kind how, Events& events);
  void give_text(std::string_view text, Events& events);
  void drop(size_t count) { pending_.erase(0, count); }

  ToolSignatures tools_;
  Place place_;
  bool thinking_;  // text is thinking
  std::string pending_;

  // Of the call that is being read
  const ToolParameters* parameters_ = nullptr;  // null: a tool that was not offered
  std::set<std::string, std::less<>> keys_;
  ValueTypes types_;
  std::string value_;           // of a type that is decided at its end
  bool value_started_ = false;  // its first line break is dealt with
};

// True if a rendered prompt leaves a think block open.
bool ends_in_thinking(std::string_view prompt);

}  // namespace lockstep
