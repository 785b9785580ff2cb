#include <fmt/format.h>

#include "apps/command_line/options.h"
#include "apps/help_texts.h"

namespace lockstep {
namespace {

struct Bound {
  const char* flag;
  int64_t value;
  int64_t least;
  int64_t most;
};

std::string check_serve(const ServeArgs& args) {
  const Bound bounds[] = {{"--port", args.port, 0, 65535},
                          {"--parallel", args.parallel.value_or(1), 1, 256},
                          {"--queue", args.queue, 0, 65536},
                          {"--max-body-mib", args.max_body_mib, 1, 1024},
                          {"--max-header-kib", args.max_header_kib, 1, 1024},
                          {"--connections", args.connections, 1, 100000},
                          {"--idle-seconds", args.idle_seconds, 1, 86400},
                          {"--read-seconds", args.read_seconds, 1, 86400},
                          {"--write-seconds", args.write_seconds, 1, 86400}};
  for (const Bound& bound : bounds) {
    if (bound.value >= bound.least && bound.value <= bound.most) continue;
    return fmt::format("{} is {}; it must be from {} to {}", bound.flag, bound.value, bound.least,
                       bound.most);
  }
  if (args.certificate.empty() != args.certificate_key.empty()) {
    return "--tls-cert and --tls-key go together";
  }
  return {};
}

void add_whole(CLI::App& app, const char* flag, int64_t& value, const char* text) {
  app.add_option(flag, value, text)->check(kWhole)->type_name("N")->capture_default_str();
}

}  // namespace

CommandLine parse_serve(CLI::App& app, std::span<const std::string> arguments) {
  ServeArgs args;
  RawModel raw;
  app.footer(kServeHelp);
  add_checkpoint_options(app, args.model, raw);
  app.add_option("--host", args.host, "Address to listen on; 0.0.0.0 for all of them")
      ->type_name("ADDRESS")
      ->capture_default_str();
  add_whole(app, "--port", args.port, "Port to listen on; 0: any free one");
  app.add_option("--name", args.name, "What clients call the model (default: its folder's name)")
      ->check(kNotEmpty)
      ->type_name("NAME");
  app.add_option("--parallel", args.parallel, "Replies made at once (default: up to 16)")
      ->check(kWhole)
      ->type_name("N");
  add_whole(app, "--queue", args.queue, "Requests that may wait; more are told to come again");
  add_context_option(app, args.model);
  add_thread_options(app, args.model, raw);
  app.add_option("--api-key", args.keys, "A key that callers must send; may be given again")
      ->check(kNotEmpty)
      ->type_name("KEY");
  app.add_option("--api-key-file", args.key_file,
                 "A file of keys, one a line, mode 0600; read again on SIGHUP")
      ->check(kNotEmpty)
      ->type_name("FILE");
  app.add_option("--tls-cert", args.certificate, "Certificate chain in PEM: HTTPS")
      ->check(kNotEmpty)
      ->type_name("FILE");
  app.add_option("--tls-key", args.certificate_key, "Its private key in PEM")
      ->check(kNotEmpty)
      ->type_name("FILE");
  app.add_option("--cors-origin", args.cors_origin, "Let web pages of this origin ask; * for all")
      ->check(kNotEmpty)
      ->type_name("ORIGIN");
  app.add_option("--reasoning-field", args.reasoning_field,
                 "Where thinking is given: reasoning_content, reasoning, or both")
      ->check(CLI::IsMember({"both", "reasoning_content", "reasoning"}))
      ->capture_default_str();
  add_whole(app, "--max-body-mib", args.max_body_mib, "Largest request body");
  add_whole(app, "--max-header-kib", args.max_header_kib, "Largest request head");
  add_whole(app, "--connections", args.connections, "Connections kept at once");
  add_whole(app, "--idle-seconds", args.idle_seconds, "A connection may be idle so long");
  add_whole(app, "--read-seconds", args.read_seconds, "A request may take so long to arrive");
  add_whole(app, "--write-seconds", args.write_seconds, "A client may take nothing for so long");
  app.add_flag("--log-requests", args.log_requests, "Write request bodies into the log");
  return parse_into(app, arguments, args,
                    [&] { return first_of({check_model(args.model, raw), check_serve(args)}); });
}

}  // namespace lockstep
