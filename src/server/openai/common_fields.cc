#include "server/openai/common_fields.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace lockstep::openai {
namespace {

constexpr size_t kMostStops = 16;
constexpr int64_t kMostTokens = int64_t{1} << 31;
constexpr size_t kMostBiases = 4096;

// The ids of a list, which the field `name` holds.
std::vector<int32_t> read_ids(Fields& fields, std::string_view name, int64_t vocab) {
  std::vector<int32_t> ids;
  const json::array* list = fields.array(name);
  if (list == nullptr) return ids;
  for (const json::value& entry : *list) {
    const int64_t* id = entry.if_int64();
    if (id == nullptr || *id < 0 || *id >= vocab) {
      fields.fail(name, fmt::format("{} holds {}; ids run from 0 to {}", name,
                                    describe_value(entry), vocab - 1));
      return {};
    }
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

void read_logit_bias(Fields& fields, int64_t vocab, SamplingSettings& settings) {
  const json::object* biases = fields.object("logit_bias");
  if (biases == nullptr) return;
  if (biases->size() > kMostBiases) {
    return fields.fail("logit_bias", fmt::format("logit_bias names {} tokens; {} are the most",
                                                 biases->size(), kMostBiases));
  }
  for (const auto& [key, value] : *biases) {
    int32_t id = -1;
    const char* end = key.data() + key.size();
    const auto parsed = std::from_chars(key.data(), end, id);
    if (parsed.ec != std::errc() || parsed.ptr != end || id < 0 || id >= vocab) {
      return fields.fail("logit_bias",
                         fmt::format("logit_bias names \"{}\"; its keys are token ids from 0 to {}",
                                     std::string_view(key), vocab - 1));
    }
    const double bias = value.is_number() ? value.to_number<double>() : 1e9;
    if (!(bias >= -100.0 && bias <= 100.0)) {
      return fields.fail("logit_bias", fmt::format("logit_bias gives {} to token {}; it must be a "
                                                   "number from -100 to 100",
                                                   describe_value(value), id));
    }
    settings.logit_bias.push_back({id, bias});
  }
}

void read_samplers(Fields& fields, const ServedModel& model, SamplingSettings& settings) {
  settings = model.defaults;
  const int64_t vocab = model.limits.vocab;
  const auto take = [](const auto& given, auto& value) {
    if (given) value = *given;
  };
  take(fields.number("temperature", 0.0, 100.0), settings.temperature);
  take(fields.integer("top_k", -1, kMostTokens - 1), settings.top_k);
  if (settings.top_k < 0) settings.top_k = 0;  // some clients turn it off so
  take(fields.number("top_p", 0.0, 1.0), settings.top_p);
  if (settings.top_p == 0.0) {
    fields.fail("top_p", "top_p must be more than 0; temperature 0 draws the likeliest token");
  }
  take(fields.number("min_p", 0.0, 1.0), settings.min_p);
  take(fields.number("repetition_penalty", 1e-6, 100.0), settings.repetition_penalty);
  take(fields.number("presence_penalty", -100.0, 100.0), settings.presence_penalty);
  take(fields.number("frequency_penalty", -100.0, 100.0), settings.frequency_penalty);
  take(fields.integer("penalty_window", 0, kMostTokens - 1), settings.penalty_window);
  settings.banned_tokens = read_ids(fields, "banned_tokens", vocab);
  settings.allowed_tokens = read_ids(fields, "allowed_tokens", vocab);
  read_logit_bias(fields, vocab, settings);
  const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX);
  if (seed) settings.seed = static_cast<uint64_t>(*seed);
}

void read_stops(Fields& fields, const ServedModel& model, GenerationCall& call) {
  call.request.stop_ids = read_ids(fields, "stop_token_ids", model.limits.vocab);
  const auto stops = fields.texts("stop", kMostStops);
  if (!stops) return;
  for (const std::string& stop : *stops) {
    if (stop.empty()) return fields.fail("stop", "stop holds an empty text");
  }
  call.reading.stops = *stops;
}

// true, false, "on", "off", or the most drafts of one window.
void read_draft(Fields& fields, Request& request) {
  const json::value* draft = fields.any("draft");
  if (draft == nullptr) return;
  const int64_t* most = draft->if_int64();
  if (*draft == false || *draft == "off") {
    request.drafts = 0;
  } else if (most != nullptr && *most >= 0 && *most <= kMostDrafts) {
    request.drafts = *most;
  } else if (*draft != true && *draft != "on") {
    fields.fail("draft", fmt::format("draft is {}; on, off and a number from 0 to {} are known",
                                     describe_value(*draft), kMostDrafts));
  }
}

// A text, or {"type": "content", "content": TEXT or text parts} as the dialect has it.
void read_prediction(Fields& fields, const ServedModel& model, Request& request) {
  const json::value* given = fields.any("prediction");
  if (given == nullptr) return;
  const json::value* content = given;
  if (const json::object* object = given->if_object()) content = object->if_contains("content");
  std::string text;
  bool known = content != nullptr && (content->is_string() || content->is_array());
  if (known && content->is_string()) text = content->get_string();
  for (const json::value& part :
       known && content->is_array() ? content->get_array() : json::array()) {
    const json::object* object = part.if_object();
    const json::value* piece = object == nullptr ? nullptr : object->if_contains("text");
    known = known && piece != nullptr && piece->is_string();
    if (known) text += piece->get_string();
  }
  if (!known) return fields.fail("prediction", "prediction holds no text");
  auto ids = model.tokenizer.encode(text);
  if (!ids.ok()) return fields.fail("prediction", ids.error().message);
  request.prediction = std::move(ids).value();
  const auto most = static_cast<size_t>(model.limits.context);
  if (request.prediction.size() > most) {
    fields.fail("prediction", fmt::format("prediction has {} tokens; the context holds {}",
                                          request.prediction.size(), most));
  }
}

void read_form(Fields& fields, AnswerForm& form) {
  form.stream = fields.boolean("stream").value_or(false);
  form.return_tokens = fields.boolean("return_tokens").value_or(false);
  const json::object* given = fields.object("stream_options");
  if (given == nullptr) return;
  if (!form.stream) return fields.fail("stream_options", "stream_options goes with stream: true");
  Fields options(*given, "stream_options.");
  form.include_usage = options.boolean("include_usage").value_or(false);
  options.skip("include_obfuscation");
  if (const ApiStatus error = options.finish()) fields.fail("stream_options", error->message);
}

}  // namespace

void read_common_fields(Fields& fields, const ServedModel& model, GenerationCall& call,
                        AnswerForm& form) {
  const auto name = fields.text("model");
  if (name && *name != model.name) {
    fields.fail("model",
                fmt::format("there is no model \"{}\" here; \"{}\" is served", *name, model.name),
                "model_not_found", 404);
  }
  read_samplers(fields, model, call.request.sampling);
  const int64_t streams = model.limits.streams;
  call.request.replies = fields.integer("n", 1, streams).value_or(1);
  call.request.use_cache = fields.boolean("use_cache").value_or(true);
  read_draft(fields, call.request);
  read_prediction(fields, model, call.request);
  read_stops(fields, model, call);
  read_form(fields, form);
}

std::vector<std::string> ignored_fields(Fields& fields) {
  std::vector<std::string> given;
  for (const char* name : {"user", "metadata", "store", "service_tier", "safety_identifier",
                           "prompt_cache_key", "prompt_cache_retention", "verbosity"}) {
    if (fields.has(name)) given.emplace_back(name);
    fields.skip(name);
  }
  return given;
}

ApiStatus check_prompt_length(const ServedModel& model, size_t prompt_tokens) {
  const int64_t context = model.limits.context;
  if (static_cast<int64_t>(prompt_tokens) < context) return {};
  return ApiError{
      .message = fmt::format("the prompt has {} tokens; this server's context holds {}, of which a "
                             "reply needs one at least",
                             prompt_tokens, context),
      .param = "messages",
      .code = "context_length_exceeded"};
}

}  // namespace lockstep::openai
