#include "text/reply/reply_parser.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

constexpr std::string_view kThinkOpen = "<think>";
constexpr std::string_view kThinkClose = "</think>";
constexpr std::string_view kCallOpen = "<tool_call>";
constexpr std::string_view kCallClose = "</tool_call>";
constexpr std::string_view kFunctionOpen = "<function=";
constexpr std::string_view kFunctionClose = "</function>";
constexpr std::string_view kParameterOpen = "<parameter=";
constexpr std::string_view kParameterClose = "</parameter>";

using Kind = TextEvent::Kind;

void add(std::vector<TextEvent>& events, Kind kind, std::string_view text) {
  events.push_back({kind, std::string(text)});
}

Match match_literal(std::string_view text, std::string_view tag, bool at_end) {
  return TagMatcher(text, at_end).literal(tag).match();
}

// Length of `text` without the blanks at its end.
size_t length_without_blanks(std::string_view text) {
  const size_t last = text.find_last_not_of(kBlanks);
  return last == std::string_view::npos ? 0 : last + 1;
}

size_t length_of_line_break(std::string_view text) {
  if (text.starts_with("\r\n")) return 2;
  return text.starts_with("\n") ? 1 : 0;
}

// Length of `text` without one line break at its end.
size_t length_without_line_break(std::string_view text) {
  if (text.ends_with("\r\n")) return text.size() - 2;
  return text.ends_with("\n") ? text.size() - 1 : text.size();
}

// What of a value is certain when its end may come next: not the start of a line break.
size_t length_before_line_break(std::string_view text) {
  return text.ends_with("\r") ? text.size() - 1 : length_without_line_break(text);
}

}  // namespace

void ReplyParser::push(std::string_view text, Events& events) {
  pending_ += text;
  while (step(false, events)) {
  }
}

void ReplyParser::finish(bool whole, Events& events) {
  while (step(true, events)) {
  }
  if (place_ != Place::kCall && place_ != Place::kValue) return;
  if (whole && place_ == Place::kValue) add_value("", true, events);
  end_call(whole ? Kind::kCallEnd : Kind::kCallCut, events);
}

// Moves on by one place; false if more text is needed.
bool ReplyParser::step(bool at_end, Events& events) {
  switch (place_) {
    case Place::kReplyStart:
      return step_reply_start(at_end);
    case Place::kThinkingStart:
    case Place::kContentStart:
      return step_blanks(Place::kText);
    case Place::kText:
      return step_text(at_end, events);
    case Place::kCall:
      return step_call(at_end, events);
    case Place::kValue:
      return step_value(at_end, events);
    case Place::kAfterCall:
      return step_after_call(at_end);
  }
  return false;
}

// Blanks before a think tag are dropped with it; before anything else they are content.
bool ReplyParser::step_reply_start(bool at_end) {
  const size_t begin = std::min(pending_.find_first_not_of(kBlanks), pending_.size());
  const std::string_view text = std::string_view(pending_).substr(begin);
  for (const std::string_view tag : {kThinkOpen, kThinkClose}) {
    const Match match = match_literal(text, tag, at_end);
    if (match == Match::kMaybe) return false;
    if (match == Match::kNo) continue;
    thinking_ = tag == kThinkOpen;
    place_ = thinking_ ? Place::kThinkingStart : Place::kContentStart;
    drop(begin + tag.size());
    return true;
  }
  place_ = Place::kText;
  return true;
}

bool ReplyParser::step_blanks(Place next) {
  drop(std::min(pending_.find_first_not_of(kBlanks), pending_.size()));
  if (pending_.empty()) return false;
  place_ = next;
  return true;
}

void ReplyParser::give_text(std::string_view text, Events& events) {
  if (!text.empty()) add(events, thinking_ ? Kind::kThinking : Kind::kContent, text);
}

// Gives out the text up to a tag that means something, or to what may yet be one.
bool ReplyParser::step_text(bool at_end, Events& events) {
  const std::string_view text = pending_;
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at);
    const Match close = thinking_ ? match_literal(rest, kThinkClose, at_end) : Match::kNo;
    const CallHead call = match_call(rest, at_end);
    if (either(close, call.match) == Match::kNo) continue;
    const size_t length = length_without_blanks(text.substr(0, at));
    give_text(text.substr(0, length), events);
    if (close == Match::kYes) {
      thinking_ = false;
      place_ = Place::kContentStart;
      drop(at + kThinkClose.size());
      return true;
    }
    if (call.match == Match::kYes) {
      begin_call(call.name, events);
      drop(at + call.length);
      return true;
    }
    drop(length);
    return false;
  }
  const bool keep_blanks = at_end && !thinking_;
  const size_t length = keep_blanks ? text.size() : length_without_blanks(text);
  give_text(text.substr(0, length), events);
  drop(at_end ? text.size() : length);
  return false;
}

ReplyParser::CallHead ReplyParser::match_call(std::string_view text, bool at_end) const {
  if (tools_.empty()) return {};
  std::string_view name;
  const TagMatcher wrapped =
      TagMatcher(text, at_end).literal(kCallOpen).blanks().literal(kFunctionOpen).name('>', name);
  if (wrapped.match() != Match::kNo) return {wrapped.match(), wrapped.length(), name};
  const TagMatcher bare = TagMatcher(text, at_end).literal(kFunctionOpen).name('>', name);
  if (bare.match() == Match::kYes && !tools_.contains(name)) return {};
  return {bare.match(), bare.length(), name};
}

void ReplyParser::begin_call(std::string_view name, Events& events) {
  const auto tool = tools_.find(name);
  parameters_ = tool == tools_.end() ? nullptr : &tool->second;
  keys_.clear();
  place_ = Place::kCall;
  add(events, Kind::kCallBegin, name);
  add(events, Kind::kArguments, "{");
}

void ReplyParser::end_call(TextEvent::Kind how, Events& events) {
  if (how == Kind::kCallEnd) add(events, Kind::kArguments, "}");
  add(events, how, "");
  place_ = Place::kAfterCall;
}

bool ReplyParser::step_call(bool at_end, Events& events) {
  drop(std::min(pending_.find_first_not_of(kBlanks), pending_.size()));
  const std::string_view text = pending_;
  if (text.empty()) return false;
  std::string_view key;
  const TagMatcher parameter = TagMatcher(text, at_end).literal(kParameterOpen).name('>', key);
  const bool known = parameter.match() == Match::kYes && keys_.contains(key);
  if (parameter.match() == Match::kYes && !known) {
    begin_parameter(key, events);
    drop(parameter.length());
    return true;
  }
  const Match function = match_literal(text, kFunctionClose, at_end);
  const Match call = match_literal(text, kCallClose, at_end);
  if (either(function, call) == Match::kYes) {
    end_call(Kind::kCallEnd, events);
    if (function == Match::kYes) drop(kFunctionClose.size());
    return true;
  }
  if (either(either(function, call), known ? Match::kNo : parameter.match()) == Match::kMaybe) {
    return false;
  }
  // No part of a call: it comes back as text, up to where the next tag may begin.
  const size_t next = text.find('<', 1);
  if (next == std::string_view::npos && !at_end) return false;
  const std::string_view stray = text.substr(0, next);
  give_text(stray.substr(0, length_without_blanks(stray)), events);
  drop(stray.size());
  return true;
}

void ReplyParser::begin_parameter(std::string_view key, Events& events) {
  types_ = {};
  if (parameters_ != nullptr) {
    const auto found = parameters_->find(key);
    if (found != parameters_->end()) types_ = found->second;
  }
  add(events, Kind::kArguments, (keys_.empty() ? "" : ", ") + quote_json(key) + ": ");
  if (!types_.any_but_string()) add(events, Kind::kArguments, "\"");
  keys_.emplace(key);
  value_.clear();
  value_started_ = false;
  place_ = Place::kValue;
}

// A string goes out as it comes; any other value when it is whole.
void ReplyParser::add_value(std::string_view piece, bool last, Events& events) {
  if (types_.any_but_string()) {
    value_ += piece;
    if (last) add(events, Kind::kArguments, to_json_value(value_, types_));
    return;
  }
  const std::string quoted = quote_json(piece);
  const std::string_view inside = std::string_view(quoted).substr(1, quoted.size() - 2);
  if (!inside.empty()) add(events, Kind::kArguments, inside);
  if (last) add(events, Kind::kArguments, "\"");
}

// `length`: of what ends the value and belongs to nothing else.
Match ReplyParser::match_value_end(std::string_view text, bool at_end, size_t& length) const {
  const TagMatcher close = TagMatcher(text, at_end).literal(kParameterClose);
  length = close.length();
  if (close.match() == Match::kMaybe) return Match::kMaybe;
  if (close.match() == Match::kYes) {
    TagMatcher after = close;
    const std::string_view rest = text.substr(after.blanks().length());
    if (after.match() == Match::kNo) return Match::kNo;
    if (rest.empty()) return at_end ? Match::kYes : Match::kMaybe;
    Match best = Match::kNo;
    for (const std::string_view tag : {kParameterOpen, kFunctionClose, kCallClose}) {
      best = either(best, match_literal(rest, tag, at_end));
    }
    return best;
  }
  const TagMatcher function = TagMatcher(text, at_end).literal(kFunctionClose);
  if (function.match() != Match::kYes) return function.match();
  TagMatcher call = function;
  if (call.blanks().match() == Match::kYes && call.length() == text.size() && at_end) {
    return Match::kYes;
  }
  return call.literal(kCallClose).match();
}

bool ReplyParser::step_value(bool at_end, Events& events) {
  if (!value_started_) {
    if (!at_end && (pending_.empty() || pending_ == "\r")) return false;
    drop(length_of_line_break(pending_));
    value_started_ = true;
  }
  const std::string_view text = pending_;
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    size_t tag = 0;
    const Match end = match_value_end(text.substr(at), at_end, tag);
    if (end == Match::kNo) continue;
    if (end == Match::kYes) {
      add_value(text.substr(0, length_without_line_break(text.substr(0, at))), true, events);
      place_ = Place::kCall;
      drop(at + tag);
      return true;
    }
    const size_t length = length_before_line_break(text.substr(0, at));
    add_value(text.substr(0, length), false, events);
    drop(length);
    return false;
  }
  const size_t length = at_end ? text.size() : length_before_line_break(text);
  add_value(text.substr(0, length), false, events);
  drop(length);
  return false;
}

bool ReplyParser::step_after_call(bool at_end) {
  drop(std::min(pending_.find_first_not_of(kBlanks), pending_.size()));
  if (pending_.empty()) return false;
  const Match close = match_literal(pending_, kCallClose, at_end);
  if (close == Match::kMaybe) return false;
  if (close == Match::kYes) {
    drop(kCallClose.size());
    return true;
  }
  place_ = Place::kText;
  return true;
}

bool ends_in_thinking(std::string_view prompt) {
  const size_t open = prompt.rfind(kThinkOpen);
  if (open == std::string_view::npos) return false;
  const size_t turn = prompt.rfind("<|im_start|>");
  if (turn != std::string_view::npos && turn > open) return false;
  return prompt.find(kThinkClose, open) == std::string_view::npos;
}

}  // namespace lockstep
