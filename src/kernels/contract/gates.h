// The gates of the kernel contract (docs/kernel-contract.md), each on one op at one shape class:
//   G1 non-finite rules: NaN, infinities and masked entries come out as in float64
//   G2 row independence: a row's bits are the same alone, in any call, beside NaN rows
//   G3 repeatability and bounds: the same bits on every repeat, thread count, instruction set and
//      way of calling; every output written, nothing outside written
//   G4 precision: within the op's derived bound of float64; on stress inputs a twin that keeps its
//      sums in bf16 or float16 misses that bound a hundredfold
//   G5 launch limits: a kernel for every instruction set of the build, this processor's among them;
//      sizes within what the kernels hold
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/contract/op_contract.h"
#include "kernels/contract/run.h"

namespace lockstep::contract {

enum class Gate : uint8_t { kNonFinite, kRows, kRepeat, kPrecision, kLimits };
inline constexpr Gate kGates[] = {Gate::kNonFinite, Gate::kRows, Gate::kRepeat, Gate::kPrecision,
                                  Gate::kLimits};
const char* to_string(Gate gate);  // "G1"

inline constexpr double kTwinMiss = 100.0;

// How much of an op is run: fewer rows, contexts and float64 values where a row is much work.
struct Effort {
  std::vector<int64_t> rows;
  int64_t values = 0;  // of float64, about
  bool few = false;    // contexts and schedules
};
Effort effort_for(int64_t work);

struct GateResult {
  bool passed = false;
  double worst = 0.0;  // G4: the largest error as a share of the bound
  std::string figure =
      {};  // what was held: "0.31 of the bound, bf16 misses it 5210-fold, f16 640-fold"
  std::string failure = {};  // where not passed: the first fault in one sentence
};

// A planted defect: in what calls give, or in what G5 looks at.
struct Defect {
  Gate gate;
  const char* name;
  Spoil spoil = {};
  bool row_missing = false;
  bool limit_broken = false;
};

// `defect` may be null.
GateResult run_gate(Gate gate, const OpContract& contract, const ShapeClass& shape,
                    const Defect* defect);

// For every gate at least one; none that this processor could not show.
std::vector<Defect> planted_defects();

}  // namespace lockstep::contract
