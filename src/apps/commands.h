// One function per command of the program. Each returns the exit code and has told the user why.
#pragma once

#include "apps/command_line.h"
#include "apps/console.h"

namespace lockstep {

int run_command(const RunArgs& args, const Console& console);
int chat_command(const ChatArgs& args, const Console& console);
int serve_command(const ServeArgs& args, const Console& console);
int info_command(const InfoArgs& args, const Console& console);
int models_command(const ModelsArgs& args, const Console& console);
int synth_command(const SynthArgs& args, const Console& console);
int convert_command(const ConvertArgs& args, const Console& console);
int bench_command(const BenchArgs& args, const Console& console);
int verify_exact_command(const VerifyExactArgs& args, const Console& console);
int verify_kernels_command(const VerifyKernelsArgs& args, const Console& console);
int eval_command(const EvalArgs& args, const Console& console);
int verify_stages_command(const VerifyStagesArgs& args, const Console& console);
int verify_mtp_command(const VerifyMtpArgs& args, const Console& console);

}  // namespace lockstep
