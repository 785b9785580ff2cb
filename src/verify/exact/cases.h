// Which schedules a set of prompts is put through.
#pragma once

#include <vector>

#include "base/isa.h"
#include "verify/exact/player.h"
#include "verify/exact/prompts.h"
#include "verify/exact/schedule.h"

namespace lockstep::verify {

// A clause: streams, how they are played, and by what.
struct Case {
  Schedule schedule;
  std::vector<Prompt> streams;
  int threads = 1;
  Isa isa = Isa::kScalar;
};

struct CaseOptions {
  bool quick = false;  // the shortest prompts and few of each kind
  int threads = 2;     // where their number is not the subject
  std::vector<int> thread_counts;
  std::vector<Isa> isas;  // the first: where the instruction set is not the subject
};

std::vector<Case> exact_cases(const std::vector<Prompt>& prompts, const CaseOptions& options);

}  // namespace lockstep::verify
