// Vector instruction sets that kernels are compiled for. All give the same bits (docs/numerics.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lockstep {

enum class Isa : uint8_t { kScalar, kAvx2, kAvx512, kNeon };

const char* to_string(Isa isa);
std::optional<Isa> parse_isa(std::string_view name);

// True if this build holds code for `isa` and this processor and operating system can run it.
bool isa_available(Isa isa);

// The fastest available one. kScalar works everywhere and is slow: callers say so in the start
// report.
Isa best_isa();

}  // namespace lockstep
