// `lockstep verify kernels`: the contract of every op at every shape class of a plan, and a control
// per op and gate.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "kernels/contract/gates.h"

namespace lockstep::verify {

// One gate of one op at one shape class, or a planted defect that should turn it red.
struct KernelCheck {
  ShapeClass shape;
  contract::Gate gate = contract::Gate::kNonFinite;
  std::string defect;   // of a control; else empty
  bool passed = false;  // a control passes if its gate turned red
  double worst = 0.0;   // G4: largest error as a share of the bound
  std::string figure;   // what was held; of a failure and of a control what the gate saw
};

// "G4  PASS  linear [4 bits, group 64, scales BF16, int8] n=3584 k=1024  0.31 of the bound; ..."
std::string to_line(const KernelCheck& check);
json::object to_json(const KernelCheck& check);

struct KernelsProgress {
  std::function<void(const KernelCheck&)> on_check = {};
  // False stops: what was checked so far is returned.
  std::function<bool(uint64_t done, uint64_t total)> on_step = {};
};

// Every gate at every class, then the planted defects at the least class of each op. A class whose
// op has no contract is a failure.
std::vector<KernelCheck> check_kernels(std::span<const ShapeClass> classes,
                                       const KernelsProgress& progress);

// Those whose op, or op and label, hold `text`.
std::vector<ShapeClass> only(std::span<const ShapeClass> classes, const std::string& text);

// "verify kernels: GREEN, 210 gates at 42 shapes of 17 ops, 221 controls red as they should be".
std::string summary(std::span<const KernelCheck> checks);
bool green(std::span<const KernelCheck> checks);

}  // namespace lockstep::verify
