// The routes that draw nothing.
#include <fmt/format.h>

#include "server/fields.h"
#include "server/open_api.h"
#include "server/openai/chat_call.h"
#include "server/openai/error_reply.h"
#include "server/service.h"

namespace lockstep {

void Service::models(Context& context) {
  const json::object entry = {{"id", model_.name},
                              {"object", "model"},
                              {"created", model_.created},
                              {"owned_by", "lockstep"},
                              {"context_length", model_.limits.context},
                              {"max_model_len", model_.limits.context}};
  const std::string_view name =
      std::string_view(context.request.path).substr(std::string_view("/v1/models").size());
  if (name.empty()) {
    return answer(context, json::object{{"object", "list"}, {"data", json::array{entry}}});
  }
  if (name.substr(1) == model_.name) return answer(context, json::value(entry));
  refuse(context, {.status = 404,
                   .message = fmt::format("there is no model \"{}\" here; \"{}\" is served",
                                          name.substr(1), model_.name),
                   .code = "model_not_found"});
}

void Service::tokenize(Context& context) {
  json::object body;
  if (!read_body(context, body)) return;
  Fields fields(body);
  const auto text = fields.text("content");
  if (!text) fields.fail("content", "content is missing; it is the text to cut into tokens");
  const bool pieces = fields.boolean("with_pieces").value_or(false);
  const bool special = fields.boolean("parse_special").value_or(true);
  if (const ApiStatus error = fields.finish()) return refuse(context, *error);
  const auto ids =
      model_.tokenizer.encode(*text, special ? AddedTokens::kAll : AddedTokens::kNotSpecial);
  if (!ids.ok()) return refuse(context, openai::api_error(ids.error()));
  json::array tokens;
  for (const int32_t id : ids.value()) {
    if (pieces) {
      tokens.push_back(json::object{{"id", id}, {"piece", model_.tokenizer.decode({&id, 1})}});
    } else {
      tokens.push_back(id);
    }
  }
  answer(context, json::object{{"tokens", std::move(tokens)}, {"count", ids.value().size()}});
}

void Service::detokenize(Context& context) {
  json::object body;
  if (!read_body(context, body)) return;
  Fields fields(body);
  const json::array* list = fields.array("tokens");
  if (list == nullptr) fields.fail("tokens", "tokens is missing; it is a list of token ids");
  std::vector<int32_t> ids;
  for (const json::value& entry : list == nullptr ? json::array() : *list) {
    const int64_t* id = entry.if_int64();
    if (id == nullptr || *id < 0 || *id >= model_.limits.vocab) {
      fields.fail("tokens", fmt::format("tokens holds {}; ids run from 0 to {}",
                                        describe_value(entry), model_.limits.vocab - 1));
      break;
    }
    ids.push_back(static_cast<int32_t>(*id));
  }
  if (const ApiStatus error = fields.finish()) return refuse(context, *error);
  answer(context, json::object{{"content", model_.tokenizer.decode(ids)}});
}

void Service::apply_template(Context& context) {
  json::object body;
  if (!read_body(context, body)) return;
  std::string text;
  if (const ApiStatus error = openai::render_chat(body, model_, text)) {
    return refuse(context, *error);
  }
  answer(context, json::object{{"prompt", text}});
}

void Service::health(Context& context) {
  if (ready_) return answer(context, json::object{{"status", "ok"}});
  refuse(context, {.status = 503, .message = "no token was made yet", .code = "starting"});
}

void Service::metrics(Context& context) {
  answer(context, HttpReply{.content_type = "text/plain; version=0.0.4",
                            .body = metrics_.render(model_.engine->figures())});
}

void Service::slots(Context& context) {
  const EngineFigures figures = model_.engine->figures();
  answer(context, json::object{{"streams", model_.limits.streams},
                               {"running", figures.running},
                               {"waiting", figures.waiting},
                               {"requests", running_.list()}});
}

void Service::props(Context& context) {
  json::object facts = {{"model", model_.name},
                        {"system_fingerprint", model_.fingerprint},
                        {"context", model_.limits.context},
                        {"streams", model_.limits.streams},
                        {"queue", options_.queue},
                        {"vocab", model_.limits.vocab},
                        {"chat_template", model_.chat_template != nullptr}};
  for (const auto& [key, value] : model_.properties) facts[key] = value;
  answer(context, json::value(std::move(facts)));
}

void Service::open_api(Context& context) { answer(context, HttpReply{.body = kOpenApi}); }

void Service::cancel(Context& context) {
  const std::string id = context.request.path.substr(std::string_view("/v1/requests/").size());
  if (running_.cancel(id)) {
    return answer(context, json::object{{"id", id}, {"cancelled", true}});
  }
  refuse(context, {.status = 404, .message = fmt::format("no request {} is running", id)});
}

}  // namespace lockstep
