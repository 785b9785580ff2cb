#include <fmt/format.h>
#include <signal.h>

#include <ctime>
#include <memory>
#include <utility>

#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/model_path.h"
#include "apps/sampling_choice.h"
#include "apps/start_report.h"
#include "runtime/memory_plan.h"
#include "server/http/http_server.h"
#include "server/service.h"

namespace lockstep {
namespace {

ServedModel served_model(const Engine& engine, const ServeArgs& args,
                         const SamplingSettings& defaults) {
  std::string name = args.name;
  if (name.empty()) name = engine.model.checkpoint().path.stem().string();
  json::object properties = {{"model_type", engine.model.config().model_type},
                             {"precision", to_string(engine.model.precision())},
                             {"threads", engine.pool.threads()},
                             {"isa", to_string(engine.isa)},
                             {"memory", describe_plan(plan_memory(engine.model, engine.setup))},
                             {"version", "lockstep " LOCKSTEP_VERSION}};
  return {.name = std::move(name),
          .engine = engine.streams.get(),
          .limits = engine.streams->limits(),
          .tokenizer = engine.tokenizer,
          .chat_template = engine.chat_template ? &*engine.chat_template : nullptr,
          .template_fault = engine.template_fault,
          .folder = engine.model.checkpoint().path.string(),
          .stop_ids = engine.stop_ids,
          .defaults = defaults,
          .fingerprint = engine.model.precision_tuple(),
          .created = std::time(nullptr),
          .properties = std::move(properties)};
}

openai::ReasoningField reasoning_field(const std::string& name) {
  if (name == "reasoning") return openai::ReasoningField::kReasoning;
  return name == "both" ? openai::ReasoningField::kBoth : openai::ReasoningField::kReasoningContent;
}

HttpOptions http_options(const ServeArgs& args) {
  HttpOptions options = {.host = args.host,
                         .port = static_cast<uint16_t>(args.port),
                         .limits = {},
                         .certificate_file = args.certificate,
                         .key_file = args.certificate_key,
                         .refusal = Service::refusal};
  options.limits.header_bytes = static_cast<size_t>(args.max_header_kib) << 10;
  options.limits.body_bytes = static_cast<size_t>(args.max_body_mib) << 20;
  options.limits.connections = static_cast<int>(args.connections);
  options.limits.idle_seconds = static_cast<int>(args.idle_seconds);
  options.limits.read_seconds = static_cast<int>(args.read_seconds);
  options.limits.write_seconds = static_cast<int>(args.write_seconds);
  return options;
}

std::string where(const ServeArgs& args, uint16_t port) {
  const bool six = args.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", args.certificate.empty() ? "http" : "https", six ? "[" : "",
                     args.host, six ? "]" : "", port);
}

// Lets what runs come to its end at the first signal, and ends it at the second.
void end_on(int number, HttpServer& server, std::shared_ptr<int> signals) {
  server.on_signal(number, [&server, signals] {
    if (++*signals == 1) {
      log_line("info", "draining", {{"note", "a second signal stops at once"}});
      server.drain();
    } else {
      log_line("info", "stopping", {});
      server.stop();
    }
  });
}

std::string access_line(const ServeArgs& args, const ApiKeys& keys) {
  const bool loopback = args.host.starts_with("127.") || args.host == "::1";
  if (keys.required()) return "access     callers need a key\n";
  return loopback ? "access     this machine alone, no key\n"
                  : "access     anybody who reaches this address, without a key: --api-key asks "
                    "for one\n";
}

Status serve(Engine& engine, const ServeArgs& args, ApiKeys keys, const SamplingChoice& sampling) {
  const std::string access = access_line(args, keys);
  Service service(served_model(engine, args, sampling.settings), std::move(keys),
                  {.queue = args.queue,
                   .cors_origin = args.cors_origin,
                   .reasoning = reasoning_field(args.reasoning_field),
                   .log_requests = args.log_requests});
  LOCKSTEP_ASSIGN_OR_RETURN(
      const std::unique_ptr<HttpServer> server,
      HttpServer::open(http_options(args), [&](const HttpRequest& request, HttpExchange& exchange) {
        service.handle(request, exchange);
      }));
  LOCKSTEP_RETURN_IF_ERROR(service.warm_up());
  const auto signals = std::make_shared<int>(0);
  end_on(SIGTERM, *server, signals);
  end_on(SIGINT, *server, signals);
  server->on_signal(SIGHUP, [&] { service.reload_keys(); });
  note_raw(without_controls(start_report(engine, sampling)));
  note_raw(
      fmt::format("streams    {} at once, {} more may wait\n{}serving    {}/v1 (Ctrl-C drains "
                  "and ends)\n",
                  engine.setup.streams, args.queue, access, where(args, server->port())));
  server->run();
  return {};
}

}  // namespace

int serve_command(const ServeArgs& args, const Console& console) {
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  auto keys = ApiKeys::make(args.keys, args.key_file);
  if (!keys.ok()) return fail(keys.error());
  auto engine =
      load_engine(folder.value(), args.model, {.streams = args.parallel, .cache = true}, console);
  if (!engine.ok()) return fail(engine.error());
  const SamplingChoice sampling =
      choose_sampling({}, engine.value()->model.checkpoint().generation, false);
  const Status ended = serve(*engine.value(), args, std::move(keys).value(), sampling);
  return ended.ok() ? kDone : fail(ended.error());
}

}  // namespace lockstep
