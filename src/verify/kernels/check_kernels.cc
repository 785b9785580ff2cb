#include "verify/kernels/check_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace lockstep::verify {
namespace {

using contract::Defect;
using contract::Gate;
using contract::OpContract;

KernelCheck run_check(const OpContract& op, const ShapeClass& shape, Gate gate) {
  contract::GateResult result = run_gate(gate, op, shape, nullptr);
  return {.shape = shape,
          .gate = gate,
          .defect = {},
          .passed = result.passed,
          .worst = result.worst,
          .figure = result.passed ? std::move(result.figure) : std::move(result.failure)};
}

KernelCheck without_contract(const ShapeClass& shape, Gate gate) {
  return {.shape = shape, .gate = gate, .defect = {}, .figure = "no contract for this op"};
}

KernelCheck run_control(const OpContract& op, const ShapeClass& shape, const Defect& defect) {
  contract::GateResult result = run_gate(defect.gate, op, shape, &defect);
  return {.shape = shape,
          .gate = defect.gate,
          .defect = defect.name,
          .passed = !result.passed,
          .worst = result.worst,
          .figure = result.passed ? "the gate stayed green" : std::move(result.failure)};
}

// The class of each op where a row is the least work.
std::map<std::string, ShapeClass> least_classes(std::span<const ShapeClass> classes) {
  std::map<std::string, ShapeClass> least;
  for (const ShapeClass& shape : classes) {
    const OpContract* op = contract::find_contract(shape.op);
    if (op == nullptr) continue;
    const auto found = least.find(shape.op);
    if (found == least.end() || op->work(shape) < op->work(found->second)) least[shape.op] = shape;
  }
  return least;
}

}  // namespace

std::string to_line(const KernelCheck& check) {
  const char* verdict =
      check.defect.empty() ? (check.passed ? "PASS" : "FAIL") : (check.passed ? "RED " : "GREEN");
  const std::string what = check.defect.empty()
                               ? check.shape.to_string()
                               : fmt::format("{}, planted: {}", check.shape.op, check.defect);
  return fmt::format("{}  {}  {:<66}  {}", to_string(check.gate), verdict, what, check.figure);
}

json::object to_json(const KernelCheck& check) {
  json::object dims;
  for (const auto& [name, value] : check.shape.dims) dims[name[0] == '.' ? name + 1 : name] = value;
  json::object object = {{"kernel", check.shape.op}, {"encoding", check.shape.label},
                         {"shape", std::move(dims)}, {"gate", to_string(check.gate)},
                         {"pass", check.passed},     {"worst", check.worst},
                         {"figure", check.figure}};
  if (!check.defect.empty()) object["planted"] = check.defect;
  return object;
}

std::vector<KernelCheck> check_kernels(std::span<const ShapeClass> classes,
                                       const KernelsProgress& progress) {
  const std::map<std::string, ShapeClass> least = least_classes(classes);
  const uint64_t gates = std::size(contract::kGates);
  const uint64_t total = classes.size() * gates + least.size() * contract::planted_defects().size();
  std::vector<KernelCheck> checks;
  // False: stop.
  const auto keep = [&](KernelCheck check) {
    checks.push_back(std::move(check));
    if (progress.on_check) progress.on_check(checks.back());
    return !progress.on_step || progress.on_step(checks.size(), total);
  };
  for (const ShapeClass& shape : classes) {
    const OpContract* op = contract::find_contract(shape.op);
    for (const Gate gate : contract::kGates) {
      if (!keep(op == nullptr ? without_contract(shape, gate) : run_check(*op, shape, gate))) {
        return checks;
      }
    }
  }
  for (const auto& [name, shape] : least) {
    for (const Defect& defect : contract::planted_defects()) {
      if (!keep(run_control(*contract::find_contract(name), shape, defect))) return checks;
    }
  }
  return checks;
}

std::vector<ShapeClass> only(std::span<const ShapeClass> classes, const std::string& text) {
  std::vector<ShapeClass> kept;
  for (const ShapeClass& shape : classes) {
    if (text.empty() || shape.to_string().find(text) != std::string::npos) kept.push_back(shape);
  }
  return kept;
}

std::string summary(std::span<const KernelCheck> checks) {
  std::set<std::string> ops, classes;
  int64_t gates = 0, controls = 0, failed = 0, survived = 0;
  for (const KernelCheck& check : checks) {
    ops.insert(check.shape.op);
    classes.insert(check.shape.key());
    ++(check.defect.empty() ? gates : controls);
    if (!check.passed) ++(check.defect.empty() ? failed : survived);
  }
  if (checks.empty()) return "verify kernels: RED, nothing was checked";
  const std::string scope =
      fmt::format("{} gates at {} shapes of {} ops", gates, classes.size(), ops.size());
  if (failed + survived == 0) {
    return fmt::format("verify kernels: GREEN, {}; all {} planted defects were seen", scope,
                       controls);
  }
  return fmt::format("verify kernels: RED, {} of {} failed, {} of {} planted defects were not seen",
                     failed, scope, survived, controls);
}

bool green(std::span<const KernelCheck> checks) {
  return !checks.empty() && std::all_of(checks.begin(), checks.end(),
                                        [](const KernelCheck& check) { return check.passed; });
}

}  // namespace lockstep::verify
