#include <algorithm>
#include <chrono>

#include "apps/bench_report.h"
#include "apps/commands.h"
#include "apps/engine.h"
#include "apps/interrupt.h"
#include "apps/model_path.h"
#include "apps/progress_bar.h"
#include "bench/read_bandwidth.h"
#include "bench/workload.h"

namespace lockstep {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kBandwidthBytes = uint64_t{1} << 30;  // no last-level cache is as large

struct DecodeCase {
  DecodeFigure figure;
  bench::DecodeLoop loop;
  std::vector<double> rates = {}, limits = {}, shares = {};
};

struct PrefillCase {
  PrefillFigure figure;
  std::vector<double> rates = {};
};

// One run of the command: its cases and what they have shown so far.
class Measurement {
 public:
  Measurement(const BenchArgs& args, Engine& engine, ForwardPass& pass, ProgressBar& bar)
      : args_(args), engine_(engine), pass_(pass), bar_(bar) {}

  Status run() {
    LOCKSTEP_RETURN_IF_ERROR(prepare());
    // Round 0 is the warm-up.
    for (int64_t round = 0; round <= args_.repeat; ++round) {
      for (PrefillCase& prefill : prefill_) LOCKSTEP_RETURN_IF_ERROR(measure(prefill, round > 0));
      for (DecodeCase& decode : decode_) LOCKSTEP_RETURN_IF_ERROR(measure(decode, round > 0));
    }
    return {};
  }

  void fill(BenchReport& report) const {
    for (const PrefillCase& prefill : prefill_) {
      report.prefill.push_back({prefill.figure.length, bench::spread_of(prefill.rates)});
    }
    for (const DecodeCase& decode : decode_) {
      DecodeFigure figure = decode.figure;
      figure.rate = bench::spread_of(decode.rates);
      if (args_.roofline) {
        figure.limit = bench::spread_of(decode.limits);
        figure.share = bench::spread_of(decode.shares);
      }
      report.decode.push_back(figure);
    }
    report.memory = memory_;
  }

 private:
  Status prepare() {
    for (const int64_t length : args_.prefill) prefill_.push_back({.figure = {.length = length}});
    for (const int64_t depth : args_.depths) {
      for (const int64_t streams : args_.streams) {
        LOCKSTEP_ASSIGN_OR_RETURN(bench::DecodeLoop loop,
                                  bench::DecodeLoop::make(pass_, streams, depth));
        decode_.push_back(
            {.figure = {.depth = depth, .streams = streams}, .loop = std::move(loop)});
        LOCKSTEP_RETURN_IF_ERROR(step());
      }
    }
    if (args_.roofline) {
      LOCKSTEP_ASSIGN_OR_RETURN(bench::ReadBandwidth bandwidth,
                                bench::ReadBandwidth::make(kBandwidthBytes));
      bandwidth_ = std::move(bandwidth);
    }
    return {};
  }

  Status measure(PrefillCase& prefill, bool counts) {
    const int64_t length = prefill.figure.length;
    LOCKSTEP_ASSIGN_OR_RETURN(const double seconds, bench::time_prefill(pass_, length));
    if (counts) prefill.rates.push_back(static_cast<double>(length) / seconds);
    return step();
  }

  Status measure(DecodeCase& decode, bool counts) {
    DecodeFigure& figure = decode.figure;
    LOCKSTEP_ASSIGN_OR_RETURN(const double seconds, decode.loop.time_rounds(pass_, args_.tokens));
    if (!counts) return step();
    const auto rounds = static_cast<double>(args_.tokens);
    const int64_t halfway = decode.loop.position() - args_.tokens / 2;
    figure.traffic = bench::decode_traffic(engine_.model, figure.streams, halfway);
    decode.rates.push_back(rounds * static_cast<double>(figure.streams) / seconds);
    if (bandwidth_) {
      const double limit = bandwidth_->measure({.pool = engine_.pool, .isa = engine_.isa});
      decode.limits.push_back(limit);
      decode.shares.push_back(figure.traffic.total() * rounds / seconds / limit);
    }
    return step();
  }

  // After each measurement.
  Status step() {
    if (const auto now = bench::process_memory()) {
      const uint64_t own = bandwidth_ ? kBandwidthBytes : 0;
      if (!memory_) memory_.emplace();
      memory_->anonymous =
          std::max(memory_->anonymous, now->anonymous - std::min(own, now->anonymous));
      memory_->mapped = std::max(memory_->mapped, now->mapped);
    }
    const int64_t cases = static_cast<int64_t>(args_.prefill.size()) + decode_cases();
    bar_.update(++done_, static_cast<uint64_t>(cases * (args_.repeat + 1) + decode_cases()));
    if (InterruptScope::flag()) return Error{ErrorCode::kIo, "stopped before the end"};
    return {};
  }

  int64_t decode_cases() const {
    return static_cast<int64_t>(args_.depths.size() * args_.streams.size());
  }

  const BenchArgs& args_;
  Engine& engine_;
  ForwardPass& pass_;
  ProgressBar& bar_;
  std::vector<PrefillCase> prefill_;
  std::vector<DecodeCase> decode_;
  std::optional<bench::ReadBandwidth> bandwidth_;
  std::optional<bench::ProcessMemory> memory_;
  uint64_t done_ = 0;
};

PassLimits limits_of(const BenchArgs& args) {
  const int64_t streams = *std::ranges::max_element(args.streams);
  return {.rows = std::max(args.chunk, streams), .logit_rows = streams};
}

// Positions that all sequences of all cases come to, and the prompt that is read beside them.
int64_t all_positions(const BenchArgs& args) {
  int64_t positions = *std::ranges::max_element(args.prefill);
  for (const int64_t depth : args.depths) {
    for (const int64_t streams : args.streams) {
      const int64_t longest = std::max<int64_t>(1, depth) + args.tokens * (args.repeat + 1);
      positions += streams * (longest + kKvBlock);
    }
  }
  return positions;
}

MemoryPlan plan_of(const BenchArgs& args, const Model& model) {
  const PassLimits limits = limits_of(args);
  MemoryPlan plan = plan_memory(model, {.streams = limits.logit_rows,
                                        .pages = (all_positions(args) + kKvBlock - 1) / kKvBlock,
                                        .round_rows = limits.rows});
  uint64_t sequences = 1;
  for (const int64_t streams : args.streams) {
    sequences += static_cast<uint64_t>(streams) * args.depths.size();
  }
  plan.state = sequences * 2 * model.state_shape().recurrent_floats() * sizeof(float);
  return plan;
}

Result<BenchReport> measure_all(const std::filesystem::path& folder, const BenchArgs& args,
                                const Console& console) {
  const auto start = Clock::now();
  LOCKSTEP_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                            load_engine(folder, args.model, {}, console));
  ForwardPass pass(engine->model, {.pool = engine->pool, .isa = engine->isa}, limits_of(args));
  LOCKSTEP_RETURN_IF_ERROR(bench::time_prefill(pass, 1));
  BenchReport report;
  report.load_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report.model = folder.filename().string();
  report.precision_tuple = engine->model.precision_tuple();
  report.machine = bench::this_machine();
  report.threads = engine->pool.threads();
  report.isa = engine->isa;
  report.plan = plan_of(args, engine->model);
  const InterruptScope interrupt(SecondInterrupt::kEndsProcess);
  ProgressBar bar("measuring", console.err_terminal, ProgressBar::Unit::kSteps);
  Measurement measurement(args, *engine, pass, bar);
  LOCKSTEP_RETURN_IF_ERROR(measurement.run());
  measurement.fill(report);
  return report;
}

}  // namespace

int bench_command(const BenchArgs& args, const Console& console) {
  const auto folder = find_model(args.model.model);
  if (!folder.ok()) return fail_to_find(folder.error());
  const auto report = measure_all(folder.value(), args, console);
  if (!report.ok()) return fail(report.error());
  const Status written = print(args.json ? bench_json(report.value()) : bench_text(report.value()));
  return written.ok() ? kDone : fail(written.error());
}

}  // namespace lockstep
