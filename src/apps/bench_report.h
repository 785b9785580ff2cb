// What `lockstep bench` says, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/process_memory.h"
#include "bench/spread.h"
#include "bench/traffic.h"
#include "runtime/memory_plan.h"

namespace lockstep {

struct PrefillFigure {
  int64_t length = 0;
  bench::Spread rate = {};  // tokens a second
};

struct DecodeFigure {
  int64_t depth = 0;
  int64_t streams = 1;
  bench::Spread rate = {};                  // tokens a second, all streams together
  bench::Traffic traffic = {};              // of one round, halfway through the measured ones
  std::optional<bench::Spread> limit = {};  // bytes a second that memory was read at beside it
  std::optional<bench::Spread> share = {};  // traffic over time, over that limit, pair by pair
};

struct BenchReport {
  std::string model;            // folder name
  std::string precision_tuple;  // Model::precision_tuple
  bench::Machine machine;
  int threads = 0;
  Isa isa = Isa::kScalar;
  double load_seconds = 0.0;  // from nothing to the first token, the page cache as it was
  std::vector<PrefillFigure> prefill;
  std::vector<DecodeFigure> decode;
  std::optional<bench::ProcessMemory> memory;  // the most that was seen, each kind by itself
  MemoryPlan plan;                             // what `info` would say for the same
};

std::string bench_text(const BenchReport& report);
std::string bench_json(const BenchReport& report);

}  // namespace lockstep
