// Hopper's warpgroup product m64nNk16 (PTX ISA, "wgmma"), bf16 in, float32 accumulators. Warp w of
// the four holds rows 16w..16w+15 of A and D in the lane layout of mma.cuh; B lies in shared
// memory. The asm statements are spelt out by pattern: one register a list entry.
#pragma once

#include <cstdint>

namespace lockstep::cuda {

// A shared memory operand in the 128-byte swizzle. K-major: rows of 64 elements (128 bytes), eight
// rows a pattern, `stride` bytes between patterns (1024 when dense). N-major: `lead` bytes between
// blocks of 64 columns, `stride` between groups of eight k.
__device__ inline uint64_t swizzled_operand(uint32_t address, uint32_t lead, uint32_t stride) {
  return static_cast<uint64_t>((address & 0x3ffffu) >> 4) |
         (static_cast<uint64_t>(lead >> 4) << 16) | (static_cast<uint64_t>(stride >> 4) << 32) |
         (uint64_t{1} << 62);
}

// The same for rows of 32 bytes (16 elements of K) in the 32-byte swizzle, eight rows a pattern,
// dense.
__device__ inline uint64_t swizzled_operand_32(uint32_t address) {
  return static_cast<uint64_t>((address & 0x3ffffu) >> 4) | (uint64_t{256 >> 4} << 32) |
         (uint64_t{3} << 62);
}

// Byte offset of 16-byte chunk `chunk` (0..7) of row `row` in a 128-byte-swizzled tile.
__device__ inline uint32_t swizzled_offset(uint32_t row, uint32_t chunk) {
  return row * 128 + ((chunk ^ (row & 7)) << 4);
}

// Orders register and shared memory accesses before the next product.
__device__ inline void wgmma_arrive() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// d = a * b (+ d when `accumulate`). rs: A in registers; ss: A in shared memory, K-major.
#define LOCKSTEP_D8(i)                                                                        \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])

__device__ inline void wgmma_m64n64k16_rs(float (&d)[32], const uint32_t (&a)[4], uint64_t b,
                                          int accumulate) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
      "{%32,%33,%34,%35}, %36, p, 1, 1, 0;}"
      : LOCKSTEP_D8(0), LOCKSTEP_D8(8), LOCKSTEP_D8(16), LOCKSTEP_D8(24)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}

__device__ inline void wgmma_m64n128k16_rs(float (&d)[64], const uint32_t (&a)[4], uint64_t b,
                                           int accumulate) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %69, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "{%64,%65,%66,%67}, %68, p, 1, 1, 0;}"
      : LOCKSTEP_D8(0), LOCKSTEP_D8(8), LOCKSTEP_D8(16), LOCKSTEP_D8(24), LOCKSTEP_D8(32),
        LOCKSTEP_D8(40), LOCKSTEP_D8(48), LOCKSTEP_D8(56)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));
}

__device__ inline void wgmma_m64n64k16_ss(float (&d)[32], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
      "%32, %33, p, 1, 1, 0, 0;}"
      : LOCKSTEP_D8(0), LOCKSTEP_D8(8), LOCKSTEP_D8(16), LOCKSTEP_D8(24)
      : "l"(a), "l"(b), "r"(accumulate));
}

__device__ inline void wgmma_m64n128k16_ss(float (&d)[64], uint64_t a, uint64_t b, int accumulate) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "%64, %65, p, 1, 1, 0, 0;}"
      : LOCKSTEP_D8(0), LOCKSTEP_D8(8), LOCKSTEP_D8(16), LOCKSTEP_D8(24), LOCKSTEP_D8(32),
        LOCKSTEP_D8(40), LOCKSTEP_D8(48), LOCKSTEP_D8(56)
      : "l"(a), "l"(b), "r"(accumulate));
}

__device__ inline void wgmma_m64n128k16_ss_n_major(float (&d)[64], uint64_t a, uint64_t b,
                                                   int accumulate) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "%64, %65, p, 1, 1, 0, 1;}"
      : LOCKSTEP_D8(0), LOCKSTEP_D8(8), LOCKSTEP_D8(16), LOCKSTEP_D8(24), LOCKSTEP_D8(32),
        LOCKSTEP_D8(40), LOCKSTEP_D8(48), LOCKSTEP_D8(56)
      : "l"(a), "l"(b), "r"(accumulate));
}

#undef LOCKSTEP_D8

}  // namespace lockstep::cuda
