#include "kernels/contract/check.h"

#include <fmt/format.h>

#include <cstdio>

#include "kernels/contract/gates.h"

namespace lockstep::contract {

std::string check_contract(std::string_view op) {
  const OpContract* contract = find_contract(op);
  if (contract == nullptr) return fmt::format("no contract for an op named {}", op);
  std::string faults;
  const std::vector<ShapeClass> classes = contract->test_shapes();
  for (const Gate gate : kGates) {
    double worst = 0.0;
    for (const ShapeClass& shape : classes) {
      const GateResult result = run_gate(gate, *contract, shape, nullptr);
      worst = std::max(worst, result.worst);
      if (result.passed) continue;
      faults += fmt::format("{} {}: {}\n", to_string(gate), shape.to_string(), result.failure);
    }
    fmt::print("clause {} {}: {} shapes{}\n", to_string(gate), op, classes.size(),
               gate == Gate::kPrecision ? fmt::format(", worst {:.2g} of the bound", worst) : "");
  }
  for (const Defect& defect : planted_defects()) {
    const GateResult result = run_gate(defect.gate, *contract, classes.front(), &defect);
    if (!result.passed) {
      fmt::print("mutant {} \"{}\" on {}: RED ({})\n", to_string(defect.gate), defect.name,
                 classes.front().to_string(), result.failure);
      continue;
    }
    faults += fmt::format("{} stayed green with \"{}\" planted in {}\n", to_string(defect.gate),
                          defect.name, classes.front().to_string());
  }
  return faults;
}

}  // namespace lockstep::contract
