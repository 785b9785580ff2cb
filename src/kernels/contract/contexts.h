// Every way that a kernel may be run here: each available instruction set with 1, 2, 3 and 7
// threads. All must give the same bits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/contract/compare.h"
#include "kernels/cpu_context.h"

namespace lockstep::contract {

// The instruction sets that this processor can run, kScalar first.
std::vector<Isa> available_isas();

// Calls run(context, name) for every instruction set and thread count; `name` is "avx2, 3 threads".
void for_each_context(const std::function<void(const CpuContext&, const std::string&)>& run);

// Instruction sets that this build has code for, kScalar first.
std::vector<Isa> built_isas();

// What a processor must have for it: "avx2, fma, f16c".
const char* required_features(Isa isa);

// That instruction set, which must be available, with 1, 2, 3 or 7 threads.
CpuContext context_of(Isa isa, int threads);

// A context for checks that need only one: the best instruction set, 2 threads.
const CpuContext& default_context();

// Runs in every context and compares each result bit by bit with the first. Empty if all agree; the
// message names the context that differs.
std::string compare_contexts(const Case& test,
                             const std::function<std::vector<float>(const CpuContext&)>& run);

// Runs rows [begin, end) of a case: all at once in every context, then alone and in groups of 2, 3
// and 7 in the default one. Empty if all give the same bits (rule: a row's bits are its own).
std::string compare_row_splits(
    const Case& test,
    const std::function<std::vector<float>(const CpuContext&, int64_t begin, int64_t end)>& run);

}  // namespace lockstep::contract
