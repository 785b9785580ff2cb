// The loop that reads memory as fast as an instruction set can.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/registry.h"

LOCKSTEP_DECLARE_PER_ISA(
    // The exclusive or of all words: it can only be told by reading them all.
    uint64_t read_memory(std::span<const uint64_t> words))
