#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command_line.h"
#include "apps/commands.h"
#include "apps/console.h"

namespace lockstep {
namespace {

// A closed standard stream would hand its number to the next file opened. /dev/null opened the
// wrong way round keeps the number and still fails when it is used.
void keep_standard_streams_apart() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    const int filler = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (filler >= 0 && filler != descriptor) dup2(filler, descriptor);
  }
}

bool set_in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

Console find_console() {
  Console console;
  console.in_terminal = isatty(STDIN_FILENO) == 1;
  console.out_terminal = isatty(STDOUT_FILENO) == 1;
  console.err_terminal = isatty(STDERR_FILENO) == 1;
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  console.dim = console.out_terminal && !dumb && !set_in_environment("NO_COLOR");
  return console;
}

int dispatch(const Command& command, const Console& console) {
  struct Visitor {
    const Console& console;
    int operator()(const RunArgs& args) const { return run_command(args, console); }
    int operator()(const ChatArgs& args) const { return chat_command(args, console); }
    int operator()(const ServeArgs& args) const { return serve_command(args, console); }
    int operator()(const InfoArgs& args) const { return info_command(args, console); }
    int operator()(const ModelsArgs& args) const { return models_command(args, console); }
    int operator()(const SynthArgs& args) const { return synth_command(args, console); }
    int operator()(const ConvertArgs& args) const { return convert_command(args, console); }
    int operator()(const BenchArgs& args) const { return bench_command(args, console); }
    int operator()(const VerifyExactArgs& args) const {
      return verify_exact_command(args, console);
    }
    int operator()(const VerifyKernelsArgs& args) const {
      return verify_kernels_command(args, console);
    }
    int operator()(const EvalArgs& args) const { return eval_command(args, console); }
    int operator()(const VerifyStagesArgs& args) const {
      return verify_stages_command(args, console);
    }
    int operator()(const VerifyMtpArgs& args) const { return verify_mtp_command(args, console); }
  };
  return std::visit(Visitor{console}, command);
}

int run_program(const std::vector<std::string>& arguments) {
  keep_standard_streams_apart();
  signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe is an error that we report
  const CommandLine line = parse_command_line(arguments);
  if (!line.error.empty()) return fail(kUsage, line.error);
  if (!line.command) {
    const Status written = print(line.text);
    return written.ok() ? kDone : fail(written.error());
  }
  return dispatch(*line.command, find_console());
}

}  // namespace
}  // namespace lockstep

int main(int count, char** arguments) {
  try {
    return lockstep::run_program(std::vector<std::string>(arguments + 1, arguments + count));
  } catch (const std::bad_alloc&) {
    return lockstep::fail(lockstep::kFailed, "out of memory");
  } catch (const std::exception& error) {
    return lockstep::fail(lockstep::kFailed, error.what());
  }
}
