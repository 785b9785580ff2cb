// The model that a server answers with, made ready by whoever starts it.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "base/json.h"
#include "runtime/stream_engine.h"
#include "sampling/settings.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace lockstep {

// What it refers to outlives it.
struct ServedModel {
  std::string name;                // as clients call it
  StreamEngine* engine = nullptr;  // reading a request needs none
  RequestLimits limits;            // of the engine
  const Tokenizer& tokenizer;
  const ChatTemplate* chat_template = nullptr;  // null: template_fault says why
  std::string template_fault = {};
  std::string folder = {};  // of its files: left out of what callers are told
  std::vector<int32_t> stop_ids;
  SamplingSettings defaults;  // of what a request does not say
  std::string fingerprint;    // the precision tuple: the same tokens, the same bits
  std::time_t created = 0;    // seconds since 1970
  json::object properties;    // further facts for /props
};

}  // namespace lockstep
