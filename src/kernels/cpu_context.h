// What every CPU op needs to run: threads and the instruction set. Neither decides a bit.
#pragma once

#include "base/isa.h"
#include "base/thread_pool.h"

namespace lockstep {

class LaunchLog;
struct KernelInfo;
struct ShapeClass;

struct CpuContext {
  ThreadPool& pool;
  Isa isa = Isa::kScalar;         // an available one
  LaunchLog* launches = nullptr;  // checks of coverage: every launch is noted here
};

}  // namespace lockstep
