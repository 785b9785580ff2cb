// One registry row per kernel: its name, the instruction set it is compiled for and the function.
// An op calls only what it registered.
#pragma once

#include "base/isa.h"

namespace lockstep {

template <typename Function>
struct KernelRow {
  const char* name;
  Isa isa;
  Function* function;
};

}  // namespace lockstep

// Declares `declaration` in the namespace of each instruction set of this architecture; the
// definitions come from ISA_SRCS.
#if defined(__x86_64__)
#define LOCKSTEP_DECLARE_PER_ISA(...) \
  namespace lockstep::scalar {        \
  __VA_ARGS__;                        \
  }                                   \
  namespace lockstep::avx2 {          \
  __VA_ARGS__;                        \
  }                                   \
  namespace lockstep::avx512 {        \
  __VA_ARGS__;                        \
  }
#define LOCKSTEP_KERNEL_ROWS(function)                                           \
  {#function "_scalar", ::lockstep::Isa::kScalar, ::lockstep::scalar::function}, \
      {#function "_avx2", ::lockstep::Isa::kAvx2, ::lockstep::avx2::function}, { \
    #function "_avx512", ::lockstep::Isa::kAvx512, ::lockstep::avx512::function  \
  }
#elif defined(__aarch64__)
#define LOCKSTEP_DECLARE_PER_ISA(...) \
  namespace lockstep::scalar {        \
  __VA_ARGS__;                        \
  }                                   \
  namespace lockstep::neon {          \
  __VA_ARGS__;                        \
  }
#define LOCKSTEP_KERNEL_ROWS(function)                                             \
  {#function "_scalar", ::lockstep::Isa::kScalar, ::lockstep::scalar::function}, { \
    #function "_neon", ::lockstep::Isa::kNeon, ::lockstep::neon::function          \
  }
#else
#define LOCKSTEP_DECLARE_PER_ISA(...) \
  namespace lockstep::scalar {        \
  __VA_ARGS__;                        \
  }
#define LOCKSTEP_KERNEL_ROWS(function) \
  {#function "_scalar", ::lockstep::Isa::kScalar, ::lockstep::scalar::function}
#endif
