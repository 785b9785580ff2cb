// What every CPU op needs to run: threads and the instruction set. Neither decides a bit.
#pragma once

#include "base/isa.h"
#include "base/thread_pool.h"

namespace lockstep {

struct CpuContext {
  ThreadPool& pool;
  Isa isa = Isa::kScalar;  // an available one
};

}  // namespace lockstep
