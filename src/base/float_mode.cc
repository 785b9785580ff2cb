#include "base/float_mode.h"

#include <cfenv>
#include <cstdint>

#include "base/check.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lockstep {

void check_float_mode() {
  LOCKSTEP_CHECK(std::fegetround() == FE_TONEAREST, "this thread does not round to nearest");
#if defined(__x86_64__)
  constexpr unsigned kFlushToZero = 0x8000u;
  constexpr unsigned kDenormalsAreZero = 0x0040u;
  LOCKSTEP_CHECK((_mm_getcsr() & (kFlushToZero | kDenormalsAreZero)) == 0,
                 "this thread flushes subnormal numbers to zero");
#elif defined(__aarch64__)
  uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  LOCKSTEP_CHECK((control & (1ull << 24)) == 0, "this thread flushes subnormal numbers to zero");
#endif
}

}  // namespace lockstep
