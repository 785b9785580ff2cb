// The routes that draw tokens.
#include <fmt/format.h>

#include <ctime>
#include <memory>

#include "server/openai/chat_reply.h"
#include "server/openai/completion_reply.h"
#include "server/openai/error_reply.h"
#include "server/service.h"

namespace lockstep {

void Service::note_ignored(const std::vector<std::string>& fields) {
  const std::lock_guard lock(ignored_mutex_);
  for (const std::string& field : fields) {
    if (!ignored_.insert(field).second) continue;
    log_line("warning", "field_ignored",
             {{"field", field}, {"note", "it changes nothing here; said once"}});
  }
}

void Service::note_end(Context& context, const GenerationEnd& end) {
  const ReplyTimings& timings = end.end.timings;
  const std::string finish = end.end.status.ok() ? to_string(end.end.finish) : "error";
  metrics_.count("lockstep_prompt_tokens_total", static_cast<double>(timings.prompt_tokens));
  metrics_.count("lockstep_cached_tokens_total", static_cast<double>(timings.cached_tokens));
  metrics_.count("lockstep_reply_tokens_total", static_cast<double>(timings.reply_tokens));
  metrics_.count("lockstep_thinking_tokens_total", static_cast<double>(end.thinking_tokens));
  metrics_.count("lockstep_replies_total", fmt::format("finish=\"{}\"", finish));
  metrics_.observe("lockstep_queue_seconds", timings.queue_seconds);
  if (timings.reply_tokens > 0) {
    metrics_.observe("lockstep_first_token_seconds",
                     timings.queue_seconds + timings.prompt_seconds);
  }
  metrics_.observe("lockstep_request_seconds",
                   timings.queue_seconds + timings.prompt_seconds + timings.decode_seconds);
  metrics_.count("lockstep_drafts_offered_total", static_cast<double>(timings.drafts.offered()));
  metrics_.count("lockstep_drafts_accepted_total", static_cast<double>(timings.drafts.accepted()));
  context.usage.add(timings, end.thinking_tokens);
  if (timings.cache_miss && end.reply == 0) {
    context.log.emplace_back("cache_miss", to_string(*timings.cache_miss));
  }
  if (end.reply == 0) {
    context.log.emplace_back("queue_seconds", fmt::format("{:.4f}", timings.queue_seconds));
    context.log.emplace_back("finish", finish);
  }
  if (!end.end.status.ok()) context.log.emplace_back("error", end.end.status.error().message);
}

template <typename Reply>
void Service::give_whole(Context& context, Generation& generation, Reply& reply,
                         Running::Place& place) {
  Status status;
  generation.run({.step =
                      [&](const GenerationStep& step) {
                        if (step.token != nullptr) place.count_token();
                        reply.add(step);
                      },
                  .prompt = [&](const PromptToken& token) { reply.add_prompt(token); },
                  .end =
                      [&](const GenerationEnd& end) {
                        if (status.ok()) status = end.end.status;
                        note_end(context, end);
                        reply.end(end);
                      }});
  if (!status.ok()) return refuse(context, openai::api_error(status.error()));
  answer(context, reply.take());
}

template <typename Chunks>
void Service::give_stream(Context& context, Generation& generation, Chunks& chunks,
                          Running::Place& place) {
  HttpExchange& exchange = context.exchange;
  HttpHeaders headers = headers_of(context);
  headers.emplace_back("Cache-Control", "no-cache");
  context.status = 200;
  exchange.begin_stream("text/event-stream", headers);
  const auto write = [&](std::string_view bytes) {
    if (!exchange.write(bytes)) generation.cancel();
  };
  write(chunks.begin());
  Status status;
  generation.run({.step =
                      [&](const GenerationStep& step) {
                        if (step.token != nullptr) place.count_token();
                        write(chunks.step(step));
                      },
                  .prompt = [&](const PromptToken& token) { chunks.add_prompt(token); },
                  .end =
                      [&](const GenerationEnd& end) {
                        if (status.ok()) status = end.end.status;
                        note_end(context, end);
                        if (end.end.status.ok()) write(chunks.end(end));
                      },
                  .wait = [&] { write(openai::kKeepAlive); }});
  if (!status.ok()) {
    const HttpReply error = openai::error_reply(openai::api_error(status.error()));
    write(fmt::format("data: {}\n\n", error.body));
    return;
  }
  write(chunks.usage());
  write(openai::kDone);
}

template <typename Reply, typename Chunks, typename Call>
void Service::generate(Context& context, Call& call) {
  const auto place = running_.enter(context.id);
  if (place == nullptr) {
    metrics_.count("lockstep_refused_total");
    return refuse(context,
                  {.status = 429,
                   .message = fmt::format("{} requests run or wait already; try again later",
                                          running_.most()),
                   .code = "queue_full"});
  }
  note_ignored(call.ignored);
  Request& request = call.generation.request;
  request.salt = context.salt;
  if (!request.sampling.seed) request.sampling.seed = random_seed();
  const openai::ReplyHead head = {.id = context.id,
                                  .created = std::time(nullptr),
                                  .seed = *request.sampling.seed,
                                  .reasoning = options_.reasoning};
  Reply reply(model_, call, head);
  Chunks chunks(model_, call, head);
  const bool stream = call.form.stream;
  const auto prompt_tokens = static_cast<int64_t>(request.prompt.size());
  auto begun = Generation::begin(model_, std::move(call.generation), context.exchange.gone());
  if (!begun.ok()) return refuse(context, openai::api_error(begun.error()));
  const auto generation = std::make_shared<Generation>(std::move(begun).value());
  place->begin(context.request.path, prompt_tokens, [generation] { generation->cancel(); });
  if (stream) {
    give_stream(context, *generation, chunks, *place);
  } else {
    give_whole(context, *generation, reply, *place);
  }
  context.log.emplace_back("prompt_tokens", std::to_string(context.usage.prompt));
  context.log.emplace_back("cached_tokens", std::to_string(context.usage.cached));
  context.log.emplace_back("reply_tokens", std::to_string(context.usage.reply));
}

void Service::chat(Context& context) {
  json::object body;
  if (!read_body(context, body)) return;
  openai::ChatCall call;
  if (const ApiStatus error = openai::read_chat_call(body, model_, call)) {
    return refuse(context, *error);
  }
  generate<openai::ChatReply, openai::ChatChunks>(context, call);
}

void Service::completions(Context& context) {
  json::object body;
  if (!read_body(context, body)) return;
  openai::CompletionCall call;
  if (const ApiStatus error = openai::read_completion_call(body, model_, call)) {
    return refuse(context, *error);
  }
  generate<openai::CompletionReply, openai::CompletionChunks>(context, call);
}

}  // namespace lockstep
