#include "base/isa.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace lockstep {
namespace {

#if defined(LOCKSTEP_EMULATE_AVX512)
constexpr bool kEmulatesAvx512 = true;
#else
constexpr bool kEmulatesAvx512 = false;
#endif

#if defined(__aarch64__)
// Dot products of bytes, which came with ARMv8.2.
bool has_dot_products() {
  constexpr unsigned long kHwcapAsimdDp = 1ul << 20;
  return (getauxval(AT_HWCAP) & kHwcapAsimdDp) != 0;
}
#endif

}  // namespace

const char* to_string(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kNeon:
      return "neon";
  }
  return "?";
}

std::optional<Isa> parse_isa(std::string_view name) {
  for (Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    if (name == to_string(isa)) return isa;
  }
  return std::nullopt;
}

bool isa_available(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return true;
#if defined(__x86_64__)
    case Isa::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c");
    case Isa::kAvx512:
      if (kEmulatesAvx512) return isa_available(Isa::kAvx2);
      return isa_available(Isa::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
    case Isa::kNeon:
      return false;
#elif defined(__aarch64__)
    case Isa::kAvx2:
    case Isa::kAvx512:
      return false;
    case Isa::kNeon:
      return has_dot_products();
#else
    default:
      return false;
#endif
  }
  return false;
}

Isa best_isa() {
  for (Isa isa : {Isa::kAvx512, Isa::kAvx2, Isa::kNeon}) {
    if (isa == Isa::kAvx512 && kEmulatesAvx512) continue;
    if (isa_available(isa)) return isa;
  }
  return Isa::kScalar;
}

}  // namespace lockstep
