// The one description of an op that its unit test and `lockstep verify kernels` run
// (docs/kernel-contract.md). Each op folder defines its own in contract.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/contract/problem.h"
#include "kernels/launch.h"
#include "kernels/launch_log.h"

namespace lockstep::contract {

// A number that a launch may not exceed or must be a multiple of: sizes of what a kernel keeps on
// its stack, alignment; on a GPU threads, shared memory and registers.
struct Limit {
  std::string what;
  int64_t value = 0;
  int64_t at_most = INT64_MAX;
  int64_t multiple_of = 1;

  bool holds() const { return value <= at_most && value % multiple_of == 0; }
};

struct OpContract {
  std::string_view op;
  std::unique_ptr<Problem> (*make)(const ShapeClass& shape, const ProblemOptions& options);
  std::vector<KernelInfo> (*kernels)();
  std::vector<Limit> (*limits)(const ShapeClass& shape);
  // Multiplications, or values moved, that one row takes: decides how many rows a check can afford.
  int64_t (*work)(const ShapeClass& shape);
  // Small and odd shapes for the unit test.
  std::vector<ShapeClass> (*test_shapes)();
  // What the narrow twin of gate G4 does: "sums over k in the type".
  std::string_view twin;
  // Why gate G4 cannot tell a twin from the op at this shape; empty where it can.
  std::string_view (*alike)(const ShapeClass& shape) = nullptr;
};

std::span<const OpContract> op_contracts();
// Null if no op of that name has one.
const OpContract* find_contract(std::string_view op);

}  // namespace lockstep::contract
