// How an op gets at a kernel: by the context's instruction set, noted in its log.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "kernels/cpu_context.h"
#include "kernels/launch_log.h"
#include "kernels/registry.h"

namespace lockstep {

// A row without its function: what the contract runner says about it.
struct KernelInfo {
  const char* name;
  Isa isa;
};

template <typename Function>
void append_infos(std::span<const KernelRow<Function>> rows, std::vector<KernelInfo>& infos) {
  for (const KernelRow<Function>& row : rows) infos.push_back({row.name, row.isa});
}

// All rows of some tables.
template <typename... Functions, size_t... kCounts>
std::vector<KernelInfo> kernel_infos(const KernelRow<Functions> (&... tables)[kCounts]) {
  std::vector<KernelInfo> infos;
  (append_infos(std::span<const KernelRow<Functions>>(tables), infos), ...);
  return infos;
}

// The row of exactly `isa`. For measurements; ops take pick_kernel.
template <typename Rows>
const auto& row_of(const Rows& rows, Isa isa) {
  for (const auto& row : rows) {
    if (row.isa == isa) return row;
  }
  LOCKSTEP_CHECK(false, std::string("no kernel for ") + to_string(isa));
  return *std::begin(rows);
}

// The row of the context's instruction set, for a launch with `args`, which the context's log
// notes. An op's one way to a kernel's function: shape_class(args) stands in its header.
template <typename Function, typename Args>
const KernelRow<Function>& pick_kernel(const CpuContext& context,
                                       std::span<const KernelRow<Function>> rows,
                                       const Args& args) {
  const KernelRow<Function>& row = row_of(rows, context.isa);
  if (context.launches != nullptr) context.launches->record(row.name, shape_class(args));
  return row;
}

template <typename Function, size_t kCount, typename Args>
const KernelRow<Function>& pick_kernel(const CpuContext& context,
                                       const KernelRow<Function> (&rows)[kCount],
                                       const Args& args) {
  return pick_kernel(context, std::span<const KernelRow<Function>>(rows), args);
}

}  // namespace lockstep
